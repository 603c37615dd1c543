// What a recording lacks, told where the run is looked at: in the diagnostics and in the run.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "capture/convert/convert.h"

namespace pgle {

struct ConversionFaults {
  uint64_t without_launch = 0;  // records whose launch is not in the recording
  uint64_t clock_drift_ns = 0;  // of the wall clock against the monotonic one
};

// Warns of everything that makes the run less than what happened; each text also goes to
// `warnings`, which XProf shows.
void ReportFindings(const CaptureSummary& summary, const ConversionFaults& faults,
                    Diagnostics* diagnostics, std::vector<std::string>* warnings);

}  // namespace pgle
