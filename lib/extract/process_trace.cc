#include "extract/process_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/sha256.h"
#include "io/input.h"
#include "trace/xspace.h"

namespace pgle {
namespace {

// XLA's collector says: "<n> events dropped", "dropped ... events".
bool SpeaksOfDroppedEvents(const std::string& warning) {
  std::string lower = warning;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(tolower(c)); });
  return lower.find("drop") != std::string::npos;
}

void CarryMessages(const XSpaceIndex& index, ProcessTrace* process) {
  for (const auto* messages : {&index.errors, &index.warnings}) {
    for (const std::string& message : *messages) {
      const bool dropped = SpeaksOfDroppedEvents(message);
      process->has_dropped_events |= dropped;
      process->diagnostics.Warn(
          process->display_name(), "the recorder of this trace says: " + message,
          dropped ? "costs of short traces are whole: record fewer steps" : "");
    }
  }
}

// HLO of the programs that ran on a device, and of no other.
Status ReadModules(const Input& input, const XSpaceIndex& index, ProcessTrace* process) {
  for (const DeviceTrace& device : process->devices) {
    for (const OpExecutions& op : device.ops) {
      process->modules.try_emplace({op.op.module, op.op.program_id}, nullptr);
    }
  }
  PGLE_ASSIGN_OR_RETURN(const std::vector<TraceModule> modules, ModulesInTrace(input, index));
  for (auto& [key, module] : process->modules) {
    const TraceModule* found = nullptr;
    size_t namesakes = 0;
    for (const TraceModule& candidate : modules) {
      if (candidate.name != key.first) continue;
      ++namesakes;
      if (found == nullptr || candidate.program_id == key.second) found = &candidate;
    }
    // An event may lack its program id; then the name must be enough.
    if (found == nullptr || (found->program_id != key.second && namesakes > 1)) continue;
    PGLE_ASSIGN_OR_RETURN(
        HloModule parsed,
        ParseHloProto(found->hlo_proto,
                      fmt::format("{}: module {}({})", input.name(), key.first, key.second)));
    module = std::make_shared<const HloModule>(std::move(parsed));
  }
  return {};
}

// Hashes in strides and hands the pages back, so that a large file does not fill memory.
std::string HashOf(const Input& input) {
  constexpr size_t kStride = size_t{4} << 20;
  Sha256 hash;
  for (size_t at = 0; at < input.bytes().size(); at += kStride) {
    hash.Update(input.bytes().substr(at, kStride));
    input.Release(at, at + kStride);
  }
  return hash.Finish();
}

}  // namespace

std::string ProcessTrace::display_name() const {
  const std::string name = std::filesystem::path(file).filename();
  return hostname.empty() ? name : hostname + "/" + name;
}

Result<ProcessTrace> ReadProcessTrace(const std::string& path, const ReadProcessOptions& options) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, options.spool_directory));
  PGLE_ASSIGN_OR_RETURN(const XSpaceIndex index, IndexXSpace(input));
  ProcessTrace process;
  process.file = input.name();
  if (!index.hostnames.empty()) process.hostname = index.hostnames.front();
  PGLE_ASSIGN_OR_RETURN(process.start_time_ns, ProfileStartTime(input, index));
  CarryMessages(index, &process);

  const std::vector<size_t> planes = DevicePlanes(index);
  for (size_t plane : planes) {
    PGLE_ASSIGN_OR_RETURN(DeviceTrace device, ReadDeviceTrace(input, index.planes[plane]));
    if (device.events > 0) process.devices.push_back(std::move(device));
  }
  if (process.devices.empty()) {
    return Failed(
        input.name(),
        planes.empty() ? "holds no device plane (/device:GPU:*)" : "no device has an event in it",
        "the profiler saw no GPU work: another tool held CUPTI, or nothing ran while it recorded");
  }
  PGLE_RETURN_IF_ERROR(ReadModules(input, index, &process));
  if (options.want_sha256) process.sha256 = HashOf(input);
  return process;
}

Status AddModulesFromDump(DumpFolder& dump, ProcessTrace* process) {
  for (auto& [key, module] : process->modules) {
    if (module != nullptr) continue;
    PGLE_ASSIGN_OR_RETURN(module, dump.Find(key.first, key.second));
  }
  return {};
}

}  // namespace pgle
