// What the host did: executions of modules, launches, and the making of graph nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/convert/graph_nodes.h"
#include "capture/convert/range_meanings.h"
#include "capture/convert/spill_reader.h"

namespace pgle {

// One execution of a module on one device, as the host dispatched it.
struct ModuleRun {
  uint32_t module = kNone;
  uint32_t string = 0;  // of the XlaModule range
  uint32_t thread = 0;
  uint8_t device = recorder::kNoDevice;
  uint64_t index = 0;           // of this module's executions on this device, from 0 on
  uint64_t begin = 0, end = 0;  // ns; end 0: not seen
};

struct Launch {
  uint64_t time = 0;
  uint32_t duration = 0;
  uint32_t correlation = 0;
  uint32_t range = 0;
  uint32_t thread = 0;
  uint32_t scope = 0;
  uint32_t run = kNone;  // index into runs
};

struct Timeline {
  std::vector<ModuleRun> runs;   // by begin
  std::vector<Launch> launches;  // by correlation id, then time
  GraphNodes nodes;

  // The launch that a record belongs to: of those with its correlation id (ids wrap after 2^32) the
  // last one before it. kNone when there is none.
  uint32_t FindLaunch(uint32_t correlation, uint64_t start) const;
};

Timeline ReadTimeline(const Recording& spill, const RangeMeanings& ranges);

}  // namespace pgle
