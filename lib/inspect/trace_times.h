// How long each instruction took on the devices, from a trace: the weights of coverage by time.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "inspect/coverage.h"

namespace pgle {

struct TraceTimesOptions {
  std::string input;  // a log directory, run directory or trace file; see FindTraceFiles
  std::string run;    // this run of a log directory; empty: the newest
  std::string hlo;    // HLO for modules that the trace lacks; may be empty
  std::string spool_directory = "/tmp";
};

// Errors: those of Extract.
Result<std::vector<ModuleTimes>> ReadTraceTimes(const TraceTimesOptions& options,
                                                Diagnostics* diagnostics);

}  // namespace pgle
