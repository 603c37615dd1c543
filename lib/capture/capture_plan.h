// What is made ready before the command starts.
#pragma once

#include <string>

#include "capture/capture.h"
#include "capture/control.h"
#include "capture/workplace.h"

namespace pgle {

struct CapturePlan {
  Workplace place;
  Control control;
  Environment environment;    // of the command
  std::string hlo_folder;     // where its HLO will lie; empty: there will be none
  std::string autotune_file;  // where the autotuner's choices will lie; empty: nowhere
};

// Checks, makes directories and the control page, and edits the environment.
// Errors: those of preflight.h, run_name.h, workplace.h and control.h; then nothing is left behind.
Result<CapturePlan> PlanCapture(const CaptureOptions& options, const CaptureHost& host,
                                const Rank& rank, Diagnostics* diagnostics);

}  // namespace pgle
