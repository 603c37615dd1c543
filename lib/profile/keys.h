// From costs by module to one profile: bare names, "fingerprint::name", or both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/units.h"
#include "profile/cost_profile.h"

namespace pgle {

enum class KeyMode { kAuto, kBoth, kBare, kQualified };
const char* ToString(KeyMode mode);
// The mode of that name, as ToString gives it; kAuto for any other.
KeyMode KeyModeNamed(std::string_view name);

enum class CostSource {
  kMeasured,
  kAsyncPair,   // start or done of an asynchronous non-collective
  kNoActivity,  // ran without device activity: 0
  kCalled,      // a call or conditional: what its computations cost a run
  kAlias,       // run-time name of something written under its scheduling name
};

struct NamedCost {
  std::string name;  // no fingerprint
  double cost_us = 0;
  CostSource source = CostSource::kMeasured;
};

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

// Auto: if one module holds 99 % of the device time, its costs bare and then qualified (XLA lets
// the last entry win: the exact fingerprint wins, and after autotuner drift the bare names still
// serve); with several, qualified only. Without any fingerprint: bare. Where modules share a bare
// name, the one with most device time keeps it. A name that ends in ".remat" or ".remat<digits>"
// makes XLA strip that suffix from every name of the file and average equal ones
// (gpu_hlo_schedule.cc, FilterWithFingerprint). Then: qualified only, one entry a name, and such a
// name gets a second ".remat", so that stripping one leaves it. Names that cannot be looked up
// (CanBeLookedUp) are not written. `device_time`: of all modules, also those that are not given; 0:
// the sum over those given. Errors: qualified keys without any fingerprint; nothing to write.
Result<KeyedProfile> AssembleProfile(std::vector<ModuleCosts> modules, KeyMode mode,
                                     Diagnostics* diagnostics, Picoseconds device_time = 0);

// False for a name that no entry can answer for: with "::" in it XLA splits and drops the entry,
// and what is not printable ASCII is no instruction's name (and invalid UTF-8 would make the whole
// file unreadable for a proto3 parser).
bool CanBeLookedUp(std::string_view name);

}  // namespace pgle
