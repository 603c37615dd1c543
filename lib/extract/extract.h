// pgle-extract's work: traces in, one profile and everything there is to say about it out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "extract/costs.h"
#include "extract/coverage.h"
#include "extract/transfer_time.h"
#include "profile/cost_profile.h"
#include "profile/keys.h"

namespace pgle {

struct ExtractOptions {
  std::vector<std::string> inputs;  // as on the command line; see FindTraceFiles
  std::string run;
  std::string hlo;             // dump folder or file for modules that the trace lacks
  std::string module_pattern;  // RE2, unanchored; empty: all modules
  CostOptions costs;
  bool transfer_times = true;  // false: plain durations of collectives
  KeyMode keys = KeyMode::kAuto;
  uint64_t skip_first = 0;    // module runs on each device
  bool want_samples = false;  // fill Extraction::samples
  int jobs = 1;               // files read at a time
  std::string spool_directory = "/tmp";
};

struct ProcessReport {
  std::string name;  // "hostname/file name"
  std::string file;
  std::string sha256;  // raw; empty unless samples are wanted
  std::vector<std::string> devices;
  uint64_t events = 0;
};

struct ModuleReport {
  std::string name;
  std::string fingerprint;
  bool has_hlo = false;
  bool has_scheduling_names = false;
  std::vector<uint32_t> processes;
  uint64_t runs = 0;  // over all devices
  uint64_t executions = 0;
  Picoseconds busy = 0;
  ModuleCoverage coverage;
  TransferReport transfer;
  std::map<CostSource, uint64_t> costs_by_source;
  uint64_t own_names = 0;  // costs under a run-time name for want of a scheduling name
  uint64_t command_buffers = 0;
  Picoseconds command_buffer_busy = 0;
  std::vector<std::string> unknown_ops;
  Picoseconds unknown_busy = 0;
};

struct Extraction {
  KeyedProfile keyed;
  std::vector<ModuleCosts> costs;     // a module each
  std::vector<ModuleReport> modules;  // by device time, largest first
  std::vector<ProcessReport> processes;
  Picoseconds busy = 0;                       // device time in all
  std::array<Picoseconds, 4> unattributed{};  // of it, without an op; index: ActivityKind
  std::vector<std::string> files;             // read, HLO included: prerequisites for make
  std::vector<ModuleSamples> samples;         // where wanted: corrected within files, not across
  Diagnostics diagnostics;

  // found/(found+missing) over all modules with HLO.
  double coverage_by_count(bool strict = false) const;
  double coverage_by_time(bool strict = false) const;
  // False when modules without HLO hold more than 1 % of the device time.
  bool coverage_is_known() const;
};

// Errors: no input, unreadable or damaged files, one process given twice, no module matches, no
// cost.
Result<Extraction> Extract(const ExtractOptions& options);

// The trace files behind the inputs, in the order given.
Result<std::vector<std::string>> ResolveInputs(const ExtractOptions& options,
                                               Diagnostics* diagnostics);

}  // namespace pgle
