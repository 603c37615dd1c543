#include "inspect/applied_profile.h"

#include "profile/remat.h"

namespace pgle {

AppliedProfile::AppliedProfile(const CostProfile& profile, std::string_view fingerprint) {
  std::vector<std::pair<std::string_view, double>> kept;
  kept.reserve(profile.costs.size());
  bool has_remat = false;
  for (const InstructionCost& cost : profile.costs) {
    std::string_view name = cost.name;
    const size_t separator = name.find("::");
    if (separator != std::string_view::npos) {
      const std::string_view owner = name.substr(0, separator);
      name = name.substr(separator + 2);
      if (name.find("::") != std::string_view::npos) continue;
      if (fingerprint.empty() || owner != fingerprint) {
        foreign_[name] = {owner, cost.cost_us};
        continue;
      }
      ++own_entries_;
    }
    has_remat |= name.find(".remat") != std::string_view::npos;
    kept.emplace_back(name, cost.cost_us);
  }
  if (has_remat) {
    Average(kept);
    return;
  }
  costs_.reserve(kept.size());
  for (const auto& [name, cost_us] : kept) {
    if (costs_.insert_or_assign(name, cost_us).second) names_.push_back(name);
  }
}

void AppliedProfile::Average(const std::vector<std::pair<std::string_view, double>>& kept) {
  std::unordered_map<std::string_view, uint64_t> counts;
  for (auto [name, cost_us] : kept) {
    name.remove_suffix(RematSuffix(name).size());
    if (counts[name]++ == 0) names_.push_back(name);
    costs_[name] += cost_us;
  }
  for (auto& [name, cost_us] : costs_) cost_us /= static_cast<double>(counts[name]);
}

const double* AppliedProfile::Find(std::string_view name) const {
  const auto it = costs_.find(name);
  return it == costs_.end() ? nullptr : &it->second;
}

std::string_view AppliedProfile::ForeignFingerprint(std::string_view name) const {
  const auto it = foreign_.find(name);
  return it == foreign_.end() ? std::string_view() : it->second.fingerprint;
}

std::vector<std::string_view> AppliedProfile::foreign_names() const {
  std::vector<std::string_view> names;
  names.reserve(foreign_.size());
  for (const auto& [name, foreign] : foreign_) names.push_back(name);
  return names;
}

double AppliedProfile::ForeignCost(std::string_view name) const {
  const auto it = foreign_.find(name);
  return it == foreign_.end() ? 0 : it->second.cost_us;
}

}  // namespace pgle
