// For tests only: converts a recording, and reads the run back as plain events.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/test_support.h"
#include "capture/convert/convert.h"
#include "capture/convert/spill_builder.h"
#include "xplane.pb.h"

namespace pgle {

struct RunEvent {
  std::string plane, line, name;
  int64_t start_ns = 0, duration_ns = 0;  // since the epoch
  std::string hlo_op, hlo_module, details;
  int64_t program_id = 0, scope = 0;
  uint64_t correlation = 0;
  int64_t step = -1;
};

struct ConvertedRun {
  CaptureSummary summary;
  Diagnostics diagnostics;
  proto::XSpace space;
  std::vector<RunEvent> device, host;
  std::string error;  // of the conversion
  std::string bytes;

  // Events of a device's plane with that name.
  std::vector<RunEvent> Named(const std::string& name) const {
    std::vector<RunEvent> found;
    for (const RunEvent& event : device) {
      if (event.name == name) found.push_back(event);
    }
    return found;
  }
  bool Says(const std::string& text) const {
    for (const Diagnostic& item : diagnostics.items()) {
      if (item.what.find(text) != std::string::npos) return true;
    }
    return false;
  }
};

inline void ReadEvents(const proto::XPlane& plane, uint64_t start_ns,
                       std::vector<RunEvent>* events) {
  const auto text = [&](const proto::XStat& stat) {
    return plane.stat_metadata().at(static_cast<int64_t>(stat.ref_value())).name();
  };
  for (const proto::XLine& line : plane.lines()) {
    for (const proto::XEvent& event : line.events()) {
      RunEvent read;
      read.plane = plane.name();
      read.line = line.name();
      read.name = plane.event_metadata().at(event.metadata_id()).name();
      read.start_ns =
          static_cast<int64_t>(start_ns) + line.timestamp_ns() + event.offset_ps() / 1000;
      read.duration_ns = event.duration_ps() / 1000;
      for (const proto::XStat& stat : event.stats()) {
        const std::string& name = plane.stat_metadata().at(stat.metadata_id()).name();
        if (name == "hlo_op") read.hlo_op = text(stat);
        if (name == "hlo_module") read.hlo_module = text(stat);
        if (name.size() > 8 && name.substr(name.size() - 8) == "_details") {
          read.details = text(stat);
        }
        if (name == "program_id") read.program_id = stat.int64_value();
        if (name == "scope_range_id") read.scope = stat.int64_value();
        if (name == "correlation_id") read.correlation = stat.uint64_value();
        if (name == "step_num") read.step = stat.int64_value();
      }
      events->push_back(std::move(read));
    }
  }
}

inline ConvertedRun ConvertBytes(const std::string& spill,
                                 const std::vector<std::string>& hlo_folders = {}) {
  const TempDir dir;
  ConvertedRun run;
  ConvertOptions options;
  options.spill = dir.File("1.spill", spill);
  options.output = dir.path / "host.xplane.pb";
  options.hostname = "host";
  options.hlo_folders = hlo_folders;
  Result<CaptureSummary> summary = ConvertSpill(options, &run.diagnostics);
  if (!summary.ok()) {
    run.error = summary.error().what;
    return run;
  }
  run.summary = std::move(*summary);
  std::ifstream file(options.output, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  run.bytes = content.str();
  if (!run.space.ParseFromString(run.bytes)) {
    run.error = "the run does not parse";
    return run;
  }
  uint64_t start_ns = 0;
  for (const proto::XPlane& plane : run.space.planes()) {
    if (plane.name() != "Task Environment") continue;
    for (const proto::XStat& stat : plane.stats()) {
      if (plane.stat_metadata().at(stat.metadata_id()).name() == "profile_start_time") {
        start_ns = stat.uint64_value();
      }
    }
  }
  for (const proto::XPlane& plane : run.space.planes()) {
    if (plane.name().rfind("/device:GPU:", 0) == 0) ReadEvents(plane, start_ns, &run.device);
    if (plane.name() == "/host:CPU") ReadEvents(plane, start_ns, &run.host);
  }
  return run;
}

}  // namespace pgle
