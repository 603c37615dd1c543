// From a spill file to an XSpace run directory: what a recorder wrote, joined and written as
// <host>.xplane.pb, which pgle-extract, jaxlib's extraction and XProf read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"

namespace pgle {

// Times between the starts of consecutive executions of a module on one device: while a program
// trains, the host runs ahead of the device by a bounded number of executions, so that in the long
// run these are the step times.
struct StepTimes {
  uint64_t count = 0;
  double median_us = 0, mean_us = 0, p10_us = 0, p90_us = 0;
};

struct ModuleRuns {
  std::string name;  // hlo_module
  int64_t program_id = 0;
  uint32_t devices = 0;
  uint64_t executions = 0;       // on the device that has most
  StepTimes outside, inside;     // the window; all are outside where there was none
  std::vector<uint64_t> starts;  // ns since the epoch, in order, of the device that has most
  double device_time_share = 0;  // of all device time in the window
  bool has_hlo = false;
  bool is_chosen = false;  // its executions are the window's steps
};

struct CaptureSummary {
  std::string spill, output;  // output: empty when there was nothing to write
  uint64_t output_bytes = 0;
  uint32_t pid = 0;
  std::string command, cupti_path;
  uint32_t cupti_version = 0, driver_version = 0;
  bool is_complete = false;  // the window closed and all its records arrived
  bool has_ended = false;    // the process came to its end (else: killed, or still running)
  bool has_window = false;
  uint64_t first_step = 0, last_step = 0;  // executions [first, last) of the chosen module
  double window_seconds = 0;
  std::string window_reason;  // as the recorder gives it
  uint32_t devices = 0;
  uint64_t kernels = 0, copies = 0, sets = 0;  // inside the window
  uint64_t attributed = 0;                     // of these, with an HLO op
  uint64_t in_graphs = 0;                      // of these, nodes of CUDA graphs
  double attributed_time_share = 0;  // of the device time of those that run inside a module
  uint64_t dropped_records = 0, untimed_records = 0, lost_events = 0, lost_strings = 0;
  uint64_t dropped_buffers = 0, write_errors = 0;  // each held many records
  std::vector<ModuleRuns> modules;                 // by device time, then by executions
};

struct ConvertOptions {
  std::string spill;   // a recorder's file
  std::string output;  // the .xplane.pb to write, or empty: only read and sum up
  std::string
      hostname;  // XSpace.hostnames; XProf wants it to be the file name's part before .xplane.pb
  std::vector<std::string>
      hlo_folders;        // XLA dumps with *after_optimizations.hlo.pb of the modules
  bool compress = false;  // zstd; the output's name ends in .zst then
};

// Reads a spill file, also one that a killed process left, and writes the run.
// Damage in the middle is skipped to the next chunk and warned of; dropped and unattributed records
// are warned of, in the diagnostics and in XSpace.warnings.
// Errors: not a spill file, no record in the window, the output cannot be written.
Result<CaptureSummary> ConvertSpill(const ConvertOptions& options, Diagnostics* diagnostics);

}  // namespace pgle
