#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "capture/convert/kernel_details.h"
#include "capture/convert/write_planes.h"

namespace pgle {
namespace {

constexpr int64_t kStepsLine = 1;       // no thread has this id but init's
constexpr int64_t kGenericContext = 0;  // XProf joins producers and consumers of one type and id

struct HostEvent {
  uint64_t begin = 0, end = 0;
  uint64_t metadata = 0;
  std::string stats;
};

class HostPlaneBuilder {
 public:
  explicit HostPlaneBuilder(const CaptureTables& tables)
      : tables_(tables), plane_("/host:CPU", 0) {}

  Status Write(XSpaceWriter* space) {
    const std::vector<HostGroup>& groups = tables_.rows.groups;
    for (size_t i = 0; i < groups.size(); ++i) AddGroup(groups[i], i + 1);
    AddSteps();
    for (auto& [id, events] : lines_) AddLine(id, events);
    plane_.AddStat(IntegerStat(plane_.StatId("process_id"), tables_.spill.process.pid));
    return space->Plane(plane_);
  }

 private:
  uint64_t MetadataFor(const std::string& name) {
    const auto [it, added] = metadata_.try_emplace(name, 0);
    if (added) it->second = plane_.AddEventMetadata(name, {}, {});
    return it->second;
  }

  void AddInteger(HostEvent* event, const char* name, int64_t value) {
    AppendIntegerStatField(event->stats, plane_.StatId(name), value);
  }

  void AddUnsigned(HostEvent* event, const char* name, uint64_t value) {
    AppendUnsignedStatField(event->stats, plane_.StatId(name), value);
  }

  void AddGroup(const HostGroup& group, uint64_t number) {
    HostEvent event;
    AddUnsigned(&event, "correlation_id", number);
    AddUnsigned(&event, "device_id", group.device);
    uint32_t thread = 0;
    if (group.run != kNone) {
      const ModuleRun& run = tables_.timeline.runs[group.run];
      thread = run.thread;
      event.begin = run.begin;
      event.end = std::max(run.end, run.begin);
      event.metadata = MetadataFor(NameOf(run) + ":XLA GPU module");
      if (tables_.window.counts_steps() && tables_.window.HoldsRun(run)) {
        AddInteger(&event, "_ct", kGenericContext);
        AddUnsigned(&event, "_c", run.index + 1);
        Step& step = steps_[run.index];
        step.begin = std::min(step.begin, event.begin);
        step.end = std::max(step.end, event.end);
      }
    } else {
      const Launch& launch = tables_.timeline.launches[group.launch];
      thread = launch.thread;
      event.begin = launch.time;
      event.end = launch.time + launch.duration;
      event.metadata = MetadataFor(NameOf(tables_.rows.rows[group.first_row]));
    }
    lines_[tables_.spill.tids[thread]].push_back(std::move(event));
  }

  std::string NameOf(const ModuleRun& run) const {
    return run.module == kNone ? "unknown" : tables_.ranges.modules()[run.module].name;
  }

  std::string NameOf(const DeviceRow& row) const {
    switch (row.kind) {
      case RecordKind::kKernel:
        return std::string(tables_.spill.kernel_names[row.kernel().name]);
      case RecordKind::kCopy:
        return std::string(CopyName(row.copy().copy_kind));
      case RecordKind::kSet:
        break;
    }
    return "Memset";
  }

  // A step lasts until the next one begins; the executions of its devices consume it.
  void AddSteps() {
    for (auto it = steps_.begin(); it != steps_.end(); ++it) {
      const auto next = std::next(it);
      HostEvent event;
      event.begin = it->second.begin;
      event.end = next == steps_.end() ? it->second.end : next->second.begin;
      event.end = std::max(event.end, event.begin);  // of damaged recordings
      event.metadata = MetadataFor("train");
      AddInteger(&event, "step_num", static_cast<int64_t>(it->first));
      AddInteger(&event, "_r", 1);
      AddInteger(&event, "_pt", kGenericContext);
      AddUnsigned(&event, "_p", it->first + 1);
      lines_[kStepsLine].push_back(std::move(event));
    }
  }

  void AddLine(int64_t id, std::vector<HostEvent>& events) {
    std::stable_sort(events.begin(), events.end(), [](const HostEvent& a, const HostEvent& b) {
      return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
    });
    const uint64_t origin = events.front().begin;
    plane_.AddLine(id, id == kStepsLine ? "Steps" : fmt::format("Host Threads/{}", id),
                   static_cast<int64_t>(origin - tables_.start_ns),
                   [&events, origin](EventSink& sink) {
                     for (const HostEvent& event : events) {
                       sink.Add(event.metadata, ToPicoseconds(event.begin - origin),
                                ToPicoseconds(event.end - event.begin), event.stats, {});
                     }
                   });
  }

  struct Step {
    uint64_t begin = UINT64_MAX, end = 0;
  };
  const CaptureTables& tables_;
  PlaneWriter plane_;
  std::map<std::string, uint64_t> metadata_;
  std::map<uint64_t, Step> steps_;                   // by index
  std::map<int64_t, std::vector<HostEvent>> lines_;  // by id
};

}  // namespace

Status WriteScopePlane(const CaptureTables& tables, XSpaceWriter* space) {
  PlaneWriter plane("/host:__ScopeRangeCallStack__", 0);
  for (const auto& [scope, parent] : tables.rows.scope_parents) {
    plane.AddStat(IntegerStat(scope, static_cast<int64_t>(parent)));
  }
  return tables.rows.scope_parents.empty() ? Status() : space->Plane(plane);
}

Status WriteHostPlane(const CaptureTables& tables, XSpaceWriter* space) {
  return HostPlaneBuilder(tables).Write(space);
}

}  // namespace pgle
