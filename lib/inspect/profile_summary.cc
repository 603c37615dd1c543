#include "inspect/profile_summary.h"

#include <algorithm>
#include <map>
#include <set>

#include "inspect/cost_class.h"

namespace pgle {
namespace {

std::string_view InstructionOf(std::string_view key) {
  const size_t separator = key.find("::");
  return separator == std::string_view::npos ? key : key.substr(separator + 2);
}

}  // namespace

ProfileSummary Summarize(const CostProfile& profile) {
  ProfileSummary summary;
  summary.entries = profile.costs.size();
  std::map<std::string, double> costs;
  std::map<std::string, uint64_t> fingerprints;
  std::set<std::string> repeated;
  std::set<std::string_view> qualified;
  for (const InstructionCost& cost : profile.costs) {
    const std::string_view instruction = InstructionOf(cost.name);
    const bool is_bare = instruction.size() == cost.name.size();
    if (instruction.find("::") != std::string_view::npos) {
      summary.dropped.push_back(cost.name);
      continue;
    }
    if (is_bare) {
      ++summary.bare;
    } else {
      ++fingerprints[cost.name.substr(0, cost.name.size() - instruction.size() - 2)];
      qualified.insert(instruction);
    }
    summary.has_remat |= instruction.find(".remat") != std::string_view::npos;
    if (!costs.insert_or_assign(cost.name, cost.cost_us).second) repeated.insert(cost.name);
  }
  summary.fingerprints.assign(fingerprints.begin(), fingerprints.end());
  summary.repeated.assign(repeated.begin(), repeated.end());
  std::map<std::string_view, ClassTotal> classes;
  for (const auto& [key, cost_us] : costs) {
    const std::string_view instruction = InstructionOf(key);
    if (instruction.size() == key.size() && qualified.count(instruction) > 0) continue;
    summary.costs.push_back({key, cost_us});
    summary.zeros += cost_us == 0 ? 1 : 0;
    summary.total_us += cost_us;
    ClassTotal& total = classes[CostClassOf(instruction)];
    ++total.instructions;
    total.us += cost_us;
  }
  summary.instructions = summary.costs.size();
  for (auto& [name, total] : classes) {
    total.name = name;
    summary.classes.push_back(total);
  }
  std::stable_sort(summary.classes.begin(), summary.classes.end(),
                   [](const ClassTotal& a, const ClassTotal& b) { return a.us > b.us; });
  std::stable_sort(
      summary.costs.begin(), summary.costs.end(),
      [](const InstructionCost& a, const InstructionCost& b) { return a.cost_us > b.cost_us; });
  return summary;
}

}  // namespace pgle
