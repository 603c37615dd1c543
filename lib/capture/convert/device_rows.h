// The records of the window, each with its op: what becomes the events of the device planes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "capture/convert/capture_window.h"
#include "capture/convert/range_meanings.h"
#include "capture/convert/spill_reader.h"
#include "capture/convert/timeline.h"

namespace pgle {

enum class RecordKind : uint8_t { kKernel, kCopy, kSet };

struct DeviceRow {
  uint64_t start = 0, end = 0;   // ns
  const void* record = nullptr;  // of its kind, in the spill file
  uint64_t scope = 0;            // with the op: one execution of it; from 1 on
  uint32_t launch = kNone;
  uint32_t op = kNone;
  uint32_t module = kNone;
  uint32_t device = 0, stream = 0;
  uint32_t lane = 0;   // of its stream: rows of a lane do not overlap
  uint32_t group = 0;  // the host event that it came from; 0: none
  RecordKind kind = RecordKind::kKernel;
  bool is_in_graph = false;

  const recorder::KernelRecord& kernel() const {
    return *static_cast<const recorder::KernelRecord*>(record);
  }
  const recorder::CopyRecord& copy() const {
    return *static_cast<const recorder::CopyRecord*>(record);
  }
  const recorder::SetRecord& set() const {
    return *static_cast<const recorder::SetRecord*>(record);
  }
};

// A host event that gave the device work: an execution of a module, or a launch outside of any.
struct HostGroup {
  uint32_t run = kNone;
  uint32_t launch = kNone;
  uint32_t device = 0;
  uint32_t first_row = 0;
};

struct DeviceRows {
  std::vector<DeviceRow> rows;    // by device, stream, lane and start
  std::vector<HostGroup> groups;  // group n is groups[n - 1]; runs first, then launches, by time
  // Scopes of what came again within one execution of a module, each with the execution's own.
  std::vector<std::pair<uint64_t, uint64_t>> scope_parents;
  uint64_t untimed = 0;         // records without times, wherever they belong
  uint64_t without_launch = 0;  // rows whose launch is not in the recording
};

// Attribution: a record's correlation id gives its launch, the launch its stack of ranges. A node
// of a graph is named by the stack that made it, and where that is unknown by the launch's own
// (which names the command buffer).
DeviceRows SelectRows(const Recording& spill, const RangeMeanings& ranges, const Timeline& timeline,
                      const CaptureWindow& window);

}  // namespace pgle
