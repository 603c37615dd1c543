// What is made ready before the command starts.
#pragma once

#include <filesystem>
#include <optional>
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
  // When that file was written last, before the command started; none: there was no such file.
  std::optional<std::filesystem::file_time_type> autotune_file_before;
};

// Of a file; none where it cannot be seen.
std::optional<std::filesystem::file_time_type> ModificationTime(const std::string& file);

// Checks, makes directories and the control page, and edits the environment.
// Errors: those of preflight.h, run_name.h, workplace.h and control.h; then nothing is left behind.
Result<CapturePlan> PlanCapture(const CaptureOptions& options, const CaptureHost& host,
                                const Rank& rank, Diagnostics* diagnostics);

}  // namespace pgle
