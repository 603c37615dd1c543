#include "profile/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "profile/remat.h"

namespace pgle {
namespace {

bool HasRemat(const std::vector<ModuleCosts>& modules) {
  return std::any_of(modules.begin(), modules.end(), [](const ModuleCosts& module) {
    return std::any_of(module.costs.begin(), module.costs.end(), [](const NamedCost& cost) {
      return cost.name.find(".remat") != std::string::npos;
    });
  });
}

KeyMode Decide(const std::vector<ModuleCosts>& modules, Picoseconds total,
               Diagnostics* diagnostics) {
  const ModuleCosts& first = modules.front();
  if (std::all_of(modules.begin(), modules.end(),
                  [](const ModuleCosts& module) { return module.fingerprint.empty(); })) {
    diagnostics->Warn(
        "profile", "no fingerprint is known, so the costs apply to every module with such names",
        "give pgle-extract the HLO of the run with --hlo, or record with jax.profiler's default "
        "options, which put it into the trace");
    return KeyMode::kBare;
  }
  if (HasRemat(modules)) return KeyMode::kQualified;
  if (static_cast<double>(first.busy) >= kDominantShare * static_cast<double>(total)) {
    return KeyMode::kBoth;
  }
  diagnostics->Note("profile",
                    "several modules share the device time: costs are written under "
                    "fingerprint::name only",
                    "--per-module DIR writes one file a module for XLA's directory look-up");
  return KeyMode::kQualified;
}

}  // namespace

bool CanBeLookedUp(std::string_view name) {
  return !name.empty() && name.find("::") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

const char* ToString(KeyMode mode) {
  switch (mode) {
    case KeyMode::kAuto:
      return "auto";
    case KeyMode::kBoth:
      return "both";
    case KeyMode::kBare:
      return "bare";
    case KeyMode::kQualified:
      return "qualified";
  }
  return "";
}

KeyMode KeyModeNamed(std::string_view name) {
  for (const KeyMode mode : {KeyMode::kBoth, KeyMode::kBare, KeyMode::kQualified}) {
    if (name == ToString(mode)) return mode;
  }
  return KeyMode::kAuto;
}

Result<KeyedProfile> AssembleProfile(std::vector<ModuleCosts> modules, KeyMode mode,
                                     Diagnostics* diagnostics, Picoseconds device_time) {
  KeyedProfile result;
  Picoseconds given = 0;
  for (const ModuleCosts& module : modules) given += module.busy;
  modules.erase(std::remove_if(modules.begin(), modules.end(),
                               [](const ModuleCosts& module) { return module.costs.empty(); }),
                modules.end());
  if (modules.empty()) {
    return Failed("profile", "no instruction has a cost, nothing to write",
                  "the trace has no op annotations: another tool held NVTX or CUPTI while it was "
                  "recorded, or command buffers hide everything");
  }
  std::stable_sort(modules.begin(), modules.end(),
                   [](const ModuleCosts& a, const ModuleCosts& b) { return a.busy > b.busy; });
  result.mode =
      mode == KeyMode::kAuto ? Decide(modules, std::max(given, device_time), diagnostics) : mode;
  const bool has_remat = HasRemat(modules);
  if (has_remat && result.mode == KeyMode::kBoth) {
    diagnostics->Warn("profile",
                      "names with .remat make XLA average the bare and the qualified entries",
                      "use --keys qualified");
  }
  std::vector<InstructionCost>& costs = result.profile.costs;
  const auto key = [&](const std::string& name) {
    return has_remat && !RematSuffix(name).empty() ? name + ".remat" : name;
  };
  if (result.mode != KeyMode::kQualified) {
    // Without fingerprints every module needs its names; else the bare ones are the first module's.
    std::unordered_set<std::string> taken;
    for (const ModuleCosts& module : modules) {
      for (const NamedCost& cost : module.costs) {
        if (!CanBeLookedUp(cost.name)) continue;
        if (taken.insert(cost.name).second) costs.push_back({key(cost.name), cost.cost_us});
      }
      if (result.mode == KeyMode::kBoth) break;
    }
  }
  if (result.mode != KeyMode::kBare) {
    for (const ModuleCosts& module : modules) {
      if (module.fingerprint.empty()) {
        if (result.mode == KeyMode::kBoth && &module == &modules.front()) continue;  // bare above
        diagnostics->Warn(module.name, "has no fingerprint, its costs are left out",
                          "give pgle-extract its HLO with --hlo, or use --keys bare");
        continue;
      }
      for (const NamedCost& cost : module.costs) {
        if (!CanBeLookedUp(cost.name)) continue;
        costs.push_back({module.fingerprint + "::" + key(cost.name), cost.cost_us});
      }
    }
  }
  if (costs.empty()) {
    return Failed("profile", "no module has a fingerprint, nothing to write",
                  "give pgle-extract the HLO of the run with --hlo, or use --keys bare");
  }
  return result;
}

}  // namespace pgle
