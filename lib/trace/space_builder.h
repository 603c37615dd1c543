// For tests only: small XSpace traces, built as a profiler would.
#pragma once

#include <map>
#include <string>

#include "xplane.pb.h"

namespace pgle {

class PlaneBuilder {
 public:
  explicit PlaneBuilder(proto::XPlane* plane) : plane_(plane) {}

  proto::XLine* Line(const std::string& name, int64_t id = 1) {
    proto::XLine* line = plane_->add_lines();
    line->set_id(id);
    line->set_name(name);
    return line;
  }

  proto::XEvent* Event(proto::XLine* line, int64_t start_ps, int64_t duration_ps) {
    proto::XEvent* event = line->add_events();
    event->set_metadata_id(1);
    event->set_offset_ps(start_ps);
    event->set_duration_ps(duration_ps);
    return event;
  }

  // An event of an op, with its references as XLA writes them.
  proto::XEvent* OpEvent(proto::XLine* line, const std::string& op, int64_t start_ps,
                         int64_t duration_ps, int64_t scope = 0) {
    proto::XEvent* event = Event(line, start_ps, duration_ps);
    Stat(event, "hlo_op")->set_ref_value(Id(op));
    Stat(event, "hlo_module")->set_ref_value(Id("jit_step"));
    Stat(event, "program_id")->set_int64_value(7);
    Stat(event, "kernel_details")->set_ref_value(Id("regs:16"));
    if (scope != 0) Stat(event, "scope_range_id")->set_int64_value(scope);
    return event;
  }

  proto::XStat* Stat(proto::XEvent* event, const std::string& name) {
    proto::XStat* stat = event->add_stats();
    stat->set_metadata_id(static_cast<int64_t>(Id(name)));
    return stat;
  }

  uint64_t Id(const std::string& name) {
    const auto [it, added] = ids_.try_emplace(name, ids_.size() + 1);
    if (added) {
      proto::XStatMetadata& metadata =
          (*plane_->mutable_stat_metadata())[static_cast<int64_t>(it->second)];
      metadata.set_id(static_cast<int64_t>(it->second));
      metadata.set_name(name);
    }
    return it->second;
  }

 private:
  proto::XPlane* plane_;
  std::map<std::string, uint64_t> ids_;
};

}  // namespace pgle
