// One capture: the command runs with the recorder in its processes, and what they record becomes a
// run directory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "capture/child.h"
#include "capture/convert/convert.h"
#include "capture/environment.h"
#include "capture/rank.h"
#include "capture/recorder/control_page.h"

namespace pgle {

struct CaptureOptions {
  std::vector<std::string> command;
  std::string log_directory;  // empty with --times
  std::string run;            // empty: chosen, see ChooseRunName
  recorder::WindowSettings window;
  std::string module_pattern;
  int window_signal = 0;  // opens and closes the window; 0: none does
  bool with_hlo = true;
  std::string autotune_directory;  // empty: the autotuner's choices are not kept
  double timeout_s = 0;            // 0: none
  uint64_t memory_mb = 256;        // that records may take in each process
  bool compress = false;
  bool best_effort = false;
  bool disable_auto_pgle = false;

  bool has_window() const { return window.mode != recorder::WindowMode::kNone; }
};

// The machine and the process that the capture is started in.
struct CaptureHost {
  std::string name;
  std::string temporary_directory;
  std::string recorder;  // where it belongs, absolute
  Environment environment;
  InheritedState inherited;
};

// What became of one process that loaded the recorder.
struct ProcessReport {
  uint32_t pid = 0;
  recorder::ProcessState state = recorder::ProcessState::kFree;
  recorder::Fault fault = recorder::Fault::kNone;
  int32_t code = 0;
  std::string fault_text;
  uint32_t cupti_version = 0;
  uint64_t module_runs = 0;
  uint32_t nvtx_clients = 0;
  std::vector<std::string> module_names;  // in order of their first execution
  bool still_runs = false;                // though the command has ended
  std::optional<CaptureSummary> summary;  // where there was a spill file that can be read
  std::optional<Error> error;             // why there is none, or why there is no trace

  bool has_trace() const { return summary && !summary->output.empty(); }
};

struct CaptureReport {
  std::vector<std::string> command;
  std::string log_directory, run, run_directory, host, module_pattern;
  Rank rank;
  recorder::WindowSettings window;
  bool was_tried = true;     // false: refused, and the command was run without (--best-effort)
  bool has_started = false;  // the command
  int status = 0;            // its own: 126, 127 when it was not started, 128+N when killed
  int exec_error = 0;        // errno, when it was not started
  int signal = 0;            // that killed it
  bool timed_out = false;
  double seconds = 0;  // that it ran
  std::vector<ProcessReport> processes;
  uint32_t processes_without_slot = 0;
  int no_room = 0;  // errno of a process for whose slot the log directory had no room; 0: none
  std::vector<Error> failures;  // of the capture; empty: it is whole
  std::string kept_directory;   // what could not be converted lies here; empty: nothing
  std::string autotune_file;    // that was written
  Diagnostics diagnostics;
};

// What is to be said while the command runs.
using CaptureListener = std::function<void(const Diagnostics&)>;

// Runs the command to its end. Standard input and output become /dev/null here once it has them.
// Errors: refused before anything was started (see preflight.h, workplace.h); with best_effort only
// that no process can be made, and a refusal is a warning.
Result<CaptureReport> Capture(const CaptureOptions& options, const CaptureHost& host,
                              const CaptureListener& listener);

}  // namespace pgle
