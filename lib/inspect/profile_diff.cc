#include "inspect/profile_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace pgle {

std::vector<std::string> FingerprintsIn(const CostProfile& profile) {
  std::set<std::string> fingerprints;
  for (const InstructionCost& cost : profile.costs) {
    const size_t separator = cost.name.find("::");
    if (separator != std::string::npos) fingerprints.insert(cost.name.substr(0, separator));
  }
  return {fingerprints.begin(), fingerprints.end()};
}

std::map<std::string, double> EffectiveCosts(const CostProfile& profile) {
  const bool by_instruction = FingerprintsIn(profile).size() <= 1;
  std::map<std::string, double> costs, qualified;
  for (const InstructionCost& cost : profile.costs) {
    const size_t separator = cost.name.find("::");
    if (separator != std::string::npos && by_instruction) {
      qualified[cost.name.substr(separator + 2)] = cost.cost_us;
    } else {
      costs[cost.name] = cost.cost_us;
    }
  }
  for (const auto& [name, cost_us] : qualified) costs[name] = cost_us;
  return costs;
}

double CostChange::relative() const {
  if (a_us == b_us) return 0;
  return a_us == 0 ? std::numeric_limits<double>::infinity() : (b_us - a_us) / a_us;
}

uint64_t ProfileDiff::Over(double limit) const {
  return only_in_a.size() + only_in_b.size() +
         static_cast<uint64_t>(std::count_if(
             changed.begin(), changed.end(),
             [&](const CostChange& change) { return std::fabs(change.relative()) > limit; }));
}

ProfileDiff DiffProfiles(const CostProfile& a, const CostProfile& b) {
  ProfileDiff diff;
  diff.fingerprints_a = FingerprintsIn(a);
  diff.fingerprints_b = FingerprintsIn(b);
  const std::map<std::string, double> costs_a = EffectiveCosts(a), costs_b = EffectiveCosts(b);
  for (const auto& [name, a_us] : costs_a) {
    const auto it = costs_b.find(name);
    if (it == costs_b.end()) {
      diff.only_in_a.push_back({name, a_us});
      continue;
    }
    diff.common_a_us += a_us;
    diff.common_b_us += it->second;
    if (it->second == a_us)
      ++diff.equal;
    else
      diff.changed.push_back({name, a_us, it->second});
  }
  for (const auto& [name, b_us] : costs_b) {
    if (costs_a.count(name) == 0) diff.only_in_b.push_back({name, b_us});
  }
  std::stable_sort(diff.changed.begin(), diff.changed.end(),
                   [](const CostChange& x, const CostChange& y) {
                     return std::fabs(x.relative()) > std::fabs(y.relative());
                   });
  return diff;
}

}  // namespace pgle
