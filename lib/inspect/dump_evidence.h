// What an XLA dump folder proves: the .fdo_profile that the client gave with each compile. XLA
// writes it at every dump point, empty where the client gave none (XLA: dump.cc), also when a
// profile came by path.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/coverage.h"
#include "inspect/verdict.h"

namespace pgle {

struct DumpEvidence {
  std::string module, directory;
  uint64_t compiles = 0;
  uint64_t profile_files = 0;           // compiles with a .fdo_profile file
  uint64_t filled = 0;                  // of them, those with a profile
  std::string damage;                   // why the last compile's profile is none; empty: it is one
  bool knows_scheduling_names = false;  // XLA since 2025: it schedules by any profile it reads
  // The last compile's profile on the module dumped with it; empty where that is not there.
  std::vector<HloCoverage> coverage;
};

// Errors: not a folder; no file of a compile in it.
Result<std::vector<DumpEvidence>> ReadDumpEvidence(const std::string& directory,
                                                   const std::string& spool_directory);

ModuleVerdict JudgeDump(const DumpEvidence& dump, double min_coverage);

// HLO and a profile, or HLO alone: never more than "not shown", since nothing says that XLA was
// given the profile.
ModuleVerdict JudgeCoverageAlone(const HloCoverage& coverage, bool has_profile);

}  // namespace pgle
