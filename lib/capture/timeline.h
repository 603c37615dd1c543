// What the host did: executions of modules, launches, and the making of graph nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "capture/range_table.h"
#include "capture/spill_reader.h"

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

// Which stack of ranges made a graph node. A node of an executable graph is a copy of the node that
// was recorded, perhaps by way of the copies that child graphs make.
class GraphNodes {
 public:
  struct Maker {
    uint32_t range = 0;  // the stack of ranges; 0 when unknown
    uint32_t thread = 0, scope = 0;
  };

  void AddCreated(uint64_t node, const Maker& maker) { nodes_.push_back({node, 0, maker}); }
  void AddCloned(uint64_t node, uint64_t original) { nodes_.push_back({node, original, {}}); }
  void Finish();  // after the last Add

  Maker MakerOf(uint64_t node) const;

 private:
  struct Node {
    uint64_t node, original;
    Maker maker;
  };
  const Node* Find(uint64_t node) const;
  std::vector<Node> nodes_;
};

struct Timeline {
  std::vector<ModuleRun> runs;   // by begin
  std::vector<Launch> launches;  // by correlation id, then time
  GraphNodes nodes;

  // The launch that a record belongs to: of those with its correlation id (ids wrap after 2^32) the
  // last one before it. kNone when there is none.
  uint32_t FindLaunch(uint32_t correlation, uint64_t start) const;
};

Timeline ReadTimeline(const SpillFile& spill, const RangeTable& ranges);

}  // namespace pgle
