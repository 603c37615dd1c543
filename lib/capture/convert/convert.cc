#include "capture/convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capture/convert/capture_window.h"
#include "capture/convert/device_rows.h"
#include "capture/convert/findings.h"
#include "capture/convert/module_protos.h"
#include "capture/convert/module_times.h"
#include "capture/convert/range_meanings.h"
#include "capture/convert/spill_reader.h"
#include "capture/convert/timeline.h"
#include "capture/convert/write_planes.h"
#include "io/input.h"
#include "io/packed_file.h"

namespace pgle {
namespace {

// Small runs, whose HLO is most of them, are worth a strong compression; large ones have to be
// written as fast as they come.
constexpr int kStrongLevel = 19, kFastLevel = 3;
constexpr size_t kStrongRows = 50'000;

struct DeviceTime {
  uint64_t total = 0, in_modules = 0, attributed = 0;
  std::vector<uint64_t> by_module;
};

DeviceTime CountRows(const DeviceRows& rows, size_t modules, CaptureSummary* summary) {
  DeviceTime time;
  time.by_module.resize(modules);
  std::set<uint32_t> devices;
  for (const DeviceRow& row : rows.rows) {
    const uint64_t duration = row.end - row.start;
    summary->kernels += row.kind == RecordKind::kKernel;
    summary->copies += row.kind == RecordKind::kCopy;
    summary->sets += row.kind == RecordKind::kSet;
    summary->attributed += row.op != kNone;
    summary->in_graphs += row.is_in_graph;
    time.total += duration;
    if (row.module != kNone) {
      time.in_modules += duration;
      time.by_module[row.module] += duration;
      if (row.op != kNone) time.attributed += duration;
    }
    if (devices.empty() || row.device != *devices.rbegin()) devices.insert(row.device);
  }
  summary->devices = static_cast<uint32_t>(devices.size());
  summary->untimed_records = rows.untimed;
  return time;
}

void Describe(const Recording& spill, const CaptureWindow& window, CaptureSummary* summary) {
  summary->pid = spill.process.pid;
  summary->command = spill.Fact(recorder::kTextCommand);
  summary->cupti_path = spill.Fact(recorder::kTextCupti);
  summary->cupti_version = spill.process.cupti_version;
  summary->driver_version = spill.process.driver_version;
  summary->is_complete = window.is_closed();
  summary->has_ended = spill.has_end;
  summary->has_window = window.has_opened();
  summary->window_reason = window.reason();
  summary->dropped_records = spill.counters.dropped_records;
  summary->dropped_buffers = spill.counters.dropped_buffers;
  summary->write_errors = spill.counters.write_errors;
  summary->lost_events = spill.counters.lost_events;
  summary->lost_strings = spill.counters.lost_strings;
}

// The steps that the run holds: fewer than were asked for when the process came to its end before.
void FindSteps(const CaptureTables& tables, CaptureSummary* summary) {
  uint64_t last_time = tables.window.end();
  for (const DeviceRow& row : tables.rows.rows) {
    if (tables.window.end() == UINT64_MAX) {
      last_time = std::max(last_time == UINT64_MAX ? 0 : last_time, row.end);
    }
  }
  if (summary->has_window && last_time != UINT64_MAX) {
    summary->window_seconds = static_cast<double>(last_time - tables.window.begin()) / 1e9;
  }
  if (!tables.window.counts_steps()) return;
  summary->first_step = tables.window.first();
  summary->last_step = summary->first_step;
  for (const HostGroup& group : tables.rows.groups) {
    if (group.run == kNone) continue;
    const ModuleRun& run = tables.timeline.runs[group.run];
    if (tables.window.HoldsRun(run))
      summary->last_step = std::max(summary->last_step, run.index + 1);
  }
}

// By how much the wall clock, which times are told in, was set while it ran.
uint64_t ClockDriftNs(const std::vector<recorder::ClockPair>& clocks) {
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (const recorder::ClockPair& pair : clocks) {
    const auto difference = static_cast<int64_t>(pair.realtime - pair.monotonic);
    least = std::min(least, difference);
    most = std::max(most, difference);
  }
  return clocks.empty() ? 0 : static_cast<uint64_t>(most) - static_cast<uint64_t>(least);
}

struct FoundProto {
  CapturedModule module;
  std::string bytes;
};

Status WriteMetadataPlane(const Recording& spill, const std::vector<FoundProto>& protos,
                          XSpaceWriter* space) {
  PlaneWriter plane("/host:metadata", 0);
  const uint64_t proto_id = plane.StatId("Hlo Proto"), program_id = plane.StatId("program_id");
  for (const FoundProto& proto : protos) {
    const auto id = static_cast<uint64_t>(proto.module.program_id);
    const std::string name = fmt::format("{}({})", proto.module.name, id);
    plane.AddEventMetadata(name, name,
                           {BytesStat(proto_id, proto.bytes), UnsignedStat(program_id, id)});
  }
  plane.AddStat(IntegerStat(plane.StatId("process_id"), spill.process.pid));
  if (spill.process.driver_version != 0) {
    plane.AddStat(TextStat(plane.StatId("cuda_driver_version"),
                           std::to_string(spill.process.driver_version)));
  }
  if (spill.process.cupti_version != 0) {
    plane.AddStat(
        TextStat(plane.StatId("cupti_version"), std::to_string(spill.process.cupti_version)));
  }
  return space->Plane(plane);
}

// The profile reaches from the first event to the last.
std::pair<uint64_t, uint64_t> ProfileTimes(const DeviceRows& rows, const Timeline& timeline) {
  uint64_t start = UINT64_MAX, stop = 0;
  for (const DeviceRow& row : rows.rows) {
    start = std::min(start, row.start);
    stop = std::max(stop, row.end);
  }
  for (const HostGroup& group : rows.groups) {
    const uint64_t begin =
        group.run != kNone ? timeline.runs[group.run].begin : timeline.launches[group.launch].time;
    start = std::min(start, begin);
    stop = std::max(stop, begin);
  }
  return {start, stop};
}

Status WriteRun(const ConvertOptions& options, const CaptureTables& tables, uint64_t stop_ns,
                const std::vector<FoundProto>& protos, const std::vector<std::string>& warnings,
                CaptureSummary* summary) {
  const bool is_small = tables.rows.rows.size() <= kStrongRows;
  const int level = !options.compress ? 0 : is_small ? kStrongLevel : kFastLevel;
  PGLE_ASSIGN_OR_RETURN(PackedFile file, PackedFile::Create(options.output, level));
  XSpaceWriter space([&file](std::string_view bytes) { return file.Write(bytes); });
  PGLE_RETURN_IF_ERROR(WriteMetadataPlane(tables.spill, protos, &space));
  PGLE_RETURN_IF_ERROR(WriteScopePlane(tables, &space));
  PGLE_RETURN_IF_ERROR(WriteDevicePlanes(tables, &space));
  PGLE_RETURN_IF_ERROR(WriteHostPlane(tables, &space));
  PlaneWriter environment("Task Environment", 0);
  environment.AddStat(UnsignedStat(environment.StatId("profile_start_time"), tables.start_ns));
  environment.AddStat(UnsignedStat(environment.StatId("profile_stop_time"), stop_ns));
  PGLE_RETURN_IF_ERROR(space.Plane(environment));
  for (const std::string& warning : warnings) PGLE_RETURN_IF_ERROR(space.Warning(warning));
  PGLE_RETURN_IF_ERROR(space.Hostname(options.hostname));
  PGLE_RETURN_IF_ERROR(file.Commit());
  summary->output_bytes = file.size();
  return {};
}

// By device time, then by executions, then by name.
void SortModules(std::vector<ModuleRuns>* modules) {
  std::stable_sort(modules->begin(), modules->end(), [](const ModuleRuns& a, const ModuleRuns& b) {
    return std::tie(b.device_time_share, b.executions, a.name, a.program_id) <
           std::tie(a.device_time_share, a.executions, b.name, b.program_id);
  });
}

}  // namespace

Result<CaptureSummary> ConvertSpill(const ConvertOptions& options, Diagnostics* diagnostics) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(options.spill));
  PGLE_ASSIGN_OR_RETURN(const Recording spill, ReadSpill(input, diagnostics));
  const RangeMeanings ranges(spill);
  const Timeline timeline = ReadTimeline(spill, ranges);
  const CaptureWindow window(spill, ranges, timeline);
  const DeviceRows rows = SelectRows(spill, ranges, timeline, window);

  CaptureSummary summary;
  summary.spill = options.spill;
  Describe(spill, window, &summary);
  const DeviceTime time = CountRows(rows, ranges.modules().size(), &summary);
  summary.attributed_time_share = time.in_modules == 0 ? 0
                                                       : static_cast<double>(time.attributed) /
                                                             static_cast<double>(time.in_modules);
  summary.modules = TimeModules(ranges, timeline, window);
  for (size_t i = 0; i < summary.modules.size() && time.total > 0; ++i) {
    summary.modules[i].device_time_share =
        static_cast<double>(time.by_module[i]) / static_cast<double>(time.total);
  }
  const auto [start_ns, stop_ns] = ProfileTimes(rows, timeline);
  std::vector<bool> has_hlo(ranges.modules().size());
  const CaptureTables tables{spill, ranges, timeline, window, rows, start_ns, has_hlo};
  FindSteps(tables, &summary);

  if (options.output.empty()) {
    SortModules(&summary.modules);
    return summary;
  }
  if (rows.rows.empty()) {
    return Failed(
        options.spill,
        !window.has_opened() ? "the window never opened: no kernel was recorded"
                             : "no kernel was recorded inside the window",
        !window.has_opened() ? "let the program run longer, or choose an earlier window"
        : window.counts_steps()
            ? "the window's steps have to run on a GPU; see pgle-capture(1)"
            : "the program did not use the GPU then: choose another time, or count steps");
  }
  summary.output = options.output;
  std::vector<FoundProto> protos;
  ModuleProtos folders(options.hlo_folders);
  for (size_t i = 0; i < summary.modules.size(); ++i) {
    if (time.by_module[i] == 0) continue;
    std::optional<std::string> proto = folders.Find(ranges.modules()[i], diagnostics);
    if (!proto.has_value()) continue;
    summary.modules[i].has_hlo = has_hlo[i] = true;
    protos.push_back({ranges.modules()[i], std::move(*proto)});
  }
  SortModules(&summary.modules);
  std::vector<std::string> warnings;
  ReportFindings(summary, {rows.without_launch, ClockDriftNs(spill.clocks)}, diagnostics,
                 &warnings);
  PGLE_RETURN_IF_ERROR(WriteRun(options, tables, stop_ns, protos, warnings, &summary));
  return summary;
}

}  // namespace pgle
