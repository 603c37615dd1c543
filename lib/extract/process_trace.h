// One trace file, which is one process: its devices' executions and its modules.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "hlo/dump_folder.h"
#include "hlo/module.h"
#include "trace/executions.h"

namespace pgle {

// A program as a process ran it. Ids count per process; fingerprints join processes.
using ProgramKey = std::pair<std::string, int64_t>;  // module name, program_id

struct ProcessTrace {
  std::string file;
  std::string hostname;              // "hostname/file name" names the process: hosts run many
  std::string sha256;                // of the unpacked trace, raw; only when asked for
  uint64_t start_time_ns = 0;        // profile_start_time; 0 if unknown
  std::vector<DeviceTrace> devices;  // those with events
  // Null where neither the trace nor the dump has the module.
  std::map<ProgramKey, std::shared_ptr<const HloModule>> modules;
  bool has_dropped_events = false;  // the recorder says that it lost some
  Diagnostics diagnostics;

  std::string display_name() const;
};

struct ReadProcessOptions {
  std::string spool_directory = "/tmp";
  bool want_sha256 = false;
};

// Errors: unreadable or damaged trace, no device plane with events, damaged HLO.
Result<ProcessTrace> ReadProcessTrace(const std::string& path, const ReadProcessOptions& options);

// Takes from a dump what the trace does not have itself.
Status AddModulesFromDump(DumpFolder& dump, ProcessTrace* process);

}  // namespace pgle
