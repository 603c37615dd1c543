// Executions of instructions on a device. One execution is one run of one instruction; all kernels,
// copies and memsets of it are its fragments.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "trace/device_plane.h"

namespace pgle {

// From the first fragment's start to the last one's end.
struct Execution {
  Picoseconds start = 0;
  Picoseconds duration = 0;
};

struct OpExecutions {
  TraceOp op;
  std::vector<Execution> executions;  // by start
  Picoseconds busy = 0;               // sum over the fragments: time on the device
  bool has_times = true;              // false in an aggregated trace: starts mean nothing
  bool has_scopes = true;             // false: fragments were grouped by correlation id
};

struct DeviceTrace {
  std::string name;               // "/device:GPU:0"
  int64_t ordinal = 0;            // the number at the end of the name
  std::vector<OpExecutions> ops;  // in order of first appearance
  uint64_t events = 0;
  Picoseconds busy = 0;  // sum over all events
  // Of that, events that no op claims, by kind of activity.
  std::array<Picoseconds, 4> unattributed{};  // index: ActivityKind
};

// Reads a plane and groups its events. Fragments belong together that share device, program, op and
// scope_range_id. Events without a scope id (jaxlib before 2024-12) are grouped in order of
// correlation id, consecutive equal ops together: "consecutive on one stream" would glue executions
// of an op that is alone on its stream. Only a loop's copies of its predicate stay apart then,
// since the loop's work runs between them; and where a program has a single op, every event counts
// as an execution, since nothing tells where one ends. Memory: 16 bytes an execution, and 8 more
// while its plane is read (32 an event without scopes).
Result<DeviceTrace> ReadDeviceTrace(const Input& input, const PlaneView& plane);

// Lines that hold no device activity of their own: derived by viewers, or overhead and counters.
bool IsDerivedLine(std::string_view name);

}  // namespace pgle
