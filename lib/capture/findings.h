// What a recording lacks, told where the run is looked at: in the diagnostics and in the run.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "capture/convert.h"

namespace pgle {

// Warns of everything that makes the run less than what happened; each text also goes to
// `warnings`, which XProf shows.
void ReportFindings(const CaptureSummary& summary, uint64_t without_launch,
                    Diagnostics* diagnostics, std::vector<std::string>* warnings);

}  // namespace pgle
