#include "trace/executions.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>

namespace pgle {
namespace {

Picoseconds EndOf(const Execution& execution) {
  return execution.start + execution.duration;
}

void Extend(Execution& execution, Picoseconds start, Picoseconds duration) {
  const Picoseconds end = std::max(EndOf(execution), start + duration);
  execution.start = std::min(execution.start, start);
  execution.duration = end - execution.start;
}

// The executions of one op while its plane is read.
struct OpenOp {
  std::vector<Execution> executions;
  std::vector<int64_t> scopes;  // of each
  bool scopes_ascend = true;
  bool has_unscoped = false;
  Picoseconds busy = 0;
  Picoseconds aggregated = 0;
  int64_t occurrences = 0;

  void AddScoped(int64_t scope, Picoseconds start, Picoseconds duration) {
    if (!scopes.empty() && scopes.back() == scope) {
      Extend(executions.back(), start, duration);
      return;
    }
    if (!scopes.empty() && scope < scopes.back()) scopes_ascend = false;
    executions.push_back({start, duration});
    scopes.push_back(scope);
  }

  // Joins fragments of one scope that did not follow one another: on several lines, say.
  void JoinScattered() {
    if (scopes_ascend) return;
    std::vector<uint32_t> order(scopes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return scopes[a] < scopes[b]; });
    std::vector<Execution> joined;
    joined.reserve(executions.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const Execution& fragment = executions[order[i]];
      if (i > 0 && scopes[order[i]] == scopes[order[i - 1]]) {
        Extend(joined.back(), fragment.start, fragment.duration);
      } else {
        joined.push_back(fragment);
      }
    }
    executions = std::move(joined);
  }
};

struct UnscopedEvent {
  uint64_t correlation;
  Picoseconds start;
  Picoseconds duration;
  uint32_t op;
};

// How many ops each program of a plane has.
std::map<std::pair<std::string, int64_t>, size_t> OpsByProgram(const std::vector<TraceOp>& ops) {
  std::map<std::pair<std::string, int64_t>, size_t> count;
  for (const TraceOp& op : ops) ++count[{op.module, op.program_id}];
  return count;
}

void GroupByCorrelation(const std::vector<TraceOp>& trace_ops, std::vector<UnscopedEvent>& events,
                        std::vector<OpenOp>& ops) {
  std::stable_sort(events.begin(), events.end(),
                   [](const UnscopedEvent& a, const UnscopedEvent& b) {
                     return std::tie(a.correlation, a.start) < std::tie(b.correlation, b.start);
                   });
  const auto ops_by_program = OpsByProgram(trace_ops);
  uint32_t previous = kNoOp;
  for (const UnscopedEvent& event : events) {
    if (event.op == previous) {
      Extend(ops[event.op].executions.back(), event.start, event.duration);
    } else {
      ops[event.op].executions.push_back({event.start, event.duration});
    }
    const TraceOp& op = trace_ops[event.op];
    const bool is_alone = ops_by_program.at({op.module, op.program_id}) == 1;
    previous = is_alone ? kNoOp : event.op;
  }
}

int64_t OrdinalOf(const std::string& plane_name) {
  const size_t colon = plane_name.rfind(':');
  int64_t ordinal = 0;
  if (colon != std::string::npos) {
    std::from_chars(plane_name.data() + colon + 1, plane_name.data() + plane_name.size(), ordinal);
  }
  return ordinal;
}

}  // namespace

bool IsDerivedLine(std::string_view name) {
  for (const char* derived :
       {"Async XLA Ops", "XLA Ops", "XLA Modules", "XLA TraceMe", "Steps", "Framework Ops",
        "Framework Name Scope", "Source code", "CUPTI overhead", "_counters_"}) {
    if (name == derived) return true;
  }
  return false;
}

Result<DeviceTrace> ReadDeviceTrace(const Input& input, const PlaneView& view) {
  PGLE_ASSIGN_OR_RETURN(DevicePlane plane, DevicePlane::Open(input, view));
  DeviceTrace trace;
  trace.name = plane.name();
  trace.ordinal = OrdinalOf(trace.name);
  std::vector<OpenOp> open;
  std::vector<UnscopedEvent> unscoped;
  for (const DeviceLine& line : plane.lines()) {
    if (IsDerivedLine(line.name)) continue;
    EventReader reader(plane, line);
    DeviceEvent event;
    while (reader.Next(&event)) {
      ++trace.events;
      trace.busy += event.duration;
      if (event.op == kNoOp) {
        trace.unattributed[static_cast<size_t>(event.kind)] += event.duration;
        continue;
      }
      if (open.size() <= event.op) open.resize(event.op + 1);
      OpenOp& op = open[event.op];
      op.busy += event.duration;
      if (event.occurrences > 0) {
        op.aggregated += event.duration;
        op.occurrences = std::max(op.occurrences, event.occurrences);
      } else if (event.has_scope) {
        op.AddScoped(event.scope, event.start, event.duration);
      } else {
        op.has_unscoped = true;
        unscoped.push_back({event.correlation, event.start, event.duration, event.op});
      }
    }
    PGLE_RETURN_IF_ERROR(reader.status());
  }
  for (OpenOp& op : open) op.JoinScattered();
  GroupByCorrelation(plane.ops(), unscoped, open);
  unscoped = {};

  trace.ops.reserve(open.size());
  for (size_t i = 0; i < open.size(); ++i) {
    OpExecutions& op = trace.ops.emplace_back();
    op.op = plane.ops()[i];
    op.busy = open[i].busy;
    op.has_scopes = !open[i].has_unscoped;
    op.executions = std::move(open[i].executions);
    const auto by_start = [](const Execution& a, const Execution& b) { return a.start < b.start; };
    if (!std::is_sorted(op.executions.begin(), op.executions.end(), by_start)) {
      std::stable_sort(op.executions.begin(), op.executions.end(), by_start);
    }
    if (open[i].occurrences > 0) {  // a sum over the whole trace: all that is known is the mean
      op.has_times = false;
      op.executions.push_back({0, open[i].aggregated / open[i].occurrences});
    }
    open[i] = {};
  }
  return trace;
}

}  // namespace pgle
