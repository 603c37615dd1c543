// From costs by module to one profile: bare names, "fingerprint::name", or both.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "extract/costs.h"
#include "profile/cost_profile.h"

namespace pgle {

enum class KeyMode { kAuto, kBoth, kBare, kQualified };
const char* ToString(KeyMode mode);

struct ModuleCosts {
  std::string name;
  std::string fingerprint;  // empty: unknown
  Picoseconds busy = 0;     // device time, for weighing modules
  std::vector<NamedCost> costs;
};

struct KeyedProfile {
  CostProfile profile;
  KeyMode mode = KeyMode::kAuto;  // as decided
};

// A share of device time from which a module counts as the only one.
inline constexpr double kDominantShare = 0.99;

// Auto: if one module holds 99 % of the device time, its costs bare and then qualified (XLA lets the
// last entry win: the exact fingerprint wins, and after autotuner drift the bare names still serve);
// with several, qualified only. Without any fingerprint: bare. Where modules share a bare name, the
// one with most device time keeps it.
// A name that ends in ".remat" or ".remat<digits>" makes XLA strip that suffix from every name of the
// file and average equal ones (gpu_hlo_schedule.cc, FilterWithFingerprint). Then: qualified only, one
// entry a name, and such a name gets a second ".remat", so that stripping one leaves it.
// Errors: qualified keys without any fingerprint; nothing to write.
Result<KeyedProfile> AssembleProfile(std::vector<ModuleCosts> modules, KeyMode mode,
                                     Diagnostics* diagnostics);

}  // namespace pgle
