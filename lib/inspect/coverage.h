// Which of the scheduler's look-ups a profile answers: XLA's accuracy checker, emulated over an
// optimized module, with a reason for each name that it misses.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"
#include "profile/cost_profile.h"

namespace pgle {

enum class CoverageReason {
  kRenamed,             // the profile has the run-time name; `detail`: that name
  kOtherModule,         // the costs are another module's; `detail`: which, where known
  kForeignFingerprint,  // only under another fingerprint; `detail`: that fingerprint
  kAutotuner,           // another GEMM kernel was chosen, under another name
  kUntakenBranch,       // nothing of its branch of a conditional has a cost
  kLeftToXla,           // an asynchronous pair that is no collective; `detail`: the wrapped
                        // instruction, where the profile has it
  kNoMeasurement,       // none of these; `detail`: why, where known
};
// As JSON and text give it: "renamed after scheduling".
const char* ToString(CoverageReason reason);

struct MissingName {
  std::string name;  // at scheduling time, as in XLA's log
  CoverageReason reason = CoverageReason::kNoMeasurement;
  std::string detail;
  bool has_time = false;
  double time_us = 0;
};

// Device time of one module by scheduling-time name, in microseconds over the whole trace.
struct ModuleTimes {
  std::string module, fingerprint;
  std::unordered_map<std::string, double> us;
};

struct HloCoverage {
  std::string module, fingerprint;
  std::string file;  // of the module; empty where CoverageOf was given a module
  uint64_t found_instructions = 0;
  uint64_t found_lookups = 0;        // XLA's "Found N instructions"
  std::vector<MissingName> missing;  // XLA's "Missing N instructions", by name, each once
  // A collective that is synchronous in this module has lost the name of the instruction that its
  // asynchronous form wrapped, XLA's second choice. It is undecided when the profile has a name of
  // the same stem that no instruction of this module bears: the HLO may be that of a later compile.
  std::vector<std::string> undecided;
  std::vector<std::string> left_to_xla;  // those of `missing` that are asynchronous non-collectives
  bool has_own_fingerprint = false;      // the profile names the module's fingerprint
  bool is_scheduled = false;  // false: these are not the names that the scheduler asks for

  // Of a trace where one was given, else from the profile itself: what is found at its cost, what
  // is missing at the cost that the profile has for it under another name.
  bool times_from_trace = false;
  double found_us = 0;
  double missing_us = 0;  // without left_us
  double left_us = 0;
  uint64_t missing_without_time = 0;

  // Found of found and missing, 0 to 1. Names left to XLA count as missing only when `strict`, and
  // so do undecided ones; otherwise both are left out. 1 where nothing is asked for; 0 where
  // nothing is found and all that is asked for is left out.
  double share(bool strict) const;
  // The same by time.
  double share_by_time(bool strict) const;
};

// Found of found and missing over several modules, as share() has it.
double ShareOf(const std::vector<const HloCoverage*>& modules, bool strict);

// One module. `times`: its device times in a trace, or null. Fingerprints of other modules at hand
// are named by `other_modules` (fingerprint to module name).
HloCoverage CoverageOf(const HloModule& module, const CostProfile& profile,
                       const ModuleTimes* times = nullptr,
                       const std::unordered_map<std::string, std::string>& other_modules = {});

// Every module of an HLO file or dump folder, in order of id and name.
// Errors: those of DumpFolder.
Result<std::vector<HloCoverage>> CoverageOf(const std::string& hlo_path, const CostProfile& profile,
                                            const std::string& spool_directory);
Result<std::vector<HloCoverage>> CoverageOf(const std::string& hlo_path, const CostProfile& profile,
                                            const std::vector<ModuleTimes>& times,
                                            const std::string& spool_directory);

}  // namespace pgle
