#include "inspect/target.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "inspect/module_name.h"

namespace pgle {
namespace {

size_t Lookups(const HloCoverage& module) {
  return module.found_instructions + module.missing.size() + module.undecided.size();
}

}  // namespace

Result<std::vector<size_t>> TargetModules(const std::vector<HloCoverage>& modules,
                                          const std::string& pattern) {
  std::vector<size_t> targets;
  if (!pattern.empty()) {
    const RE2 regex(pattern, RE2::Quiet);
    if (!regex.ok()) return UsageError("--module", "bad pattern: " + regex.error());
    for (size_t i = 0; i < modules.size(); ++i) {
      if (RE2::PartialMatch(modules[i].module, regex)) targets.push_back(i);
    }
    if (targets.empty()) {
      return Failed(
          "--module", fmt::format("no module of the HLO matches '{}'", pattern),
          fmt::format("there are {}; --verbose without --module lists them", modules.size()));
    }
    return targets;
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    if (modules[i].has_own_fingerprint) targets.push_back(i);
  }
  if (!targets.empty() || modules.empty()) return targets;
  size_t best = 0;
  for (size_t i = 1; i < modules.size(); ++i) {
    const bool is_user = IsFrameworkModule(modules[i].module);
    const bool best_is_user = IsFrameworkModule(modules[best].module);
    if (is_user != best_is_user ? is_user : Lookups(modules[i]) > Lookups(modules[best])) best = i;
  }
  return std::vector<size_t>{best};
}

}  // namespace pgle
