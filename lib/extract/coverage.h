// How much of what the latency hiding scheduler asks for a set of costs answers.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "extract/costs.h"
#include "extract/module_samples.h"

namespace pgle {

enum class MissingReason {
  kCommandBuffer,  // the module ran command buffers, which hide their instructions
  kDroppedEvents,  // the recorder lost events
  kDidNotRun,      // nothing of its computation was seen
  kNoActivity,     // its computation ran, it showed no device activity
  kCannotBeNamed,  // see CanBeLookedUp
};
const char* ToString(MissingReason reason);

struct MissingInstruction {
  std::string name;
  MissingReason reason;
};

struct ModuleCoverage {
  bool known = false;  // false without HLO: nobody knows what will be asked
  uint64_t found = 0;  // instructions with a cost
  std::vector<MissingInstruction> missing;
  std::vector<std::string> left_to_xla;  // asynchronous non-collectives without an entry
  // As XLA's accuracy checker counts: look-ups found, and distinct names missing.
  uint64_t xla_found = 0;
  uint64_t xla_missing = 0;
  Picoseconds found_busy = 0;    // device time of what was found
  Picoseconds missing_busy = 0;  // of what was not, time hidden in command buffers included
  Picoseconds left_busy = 0;     // of what is left to XLA

  // 0 to 1; 1 where nothing is asked. `strict` counts what is left to XLA as missing.
  double by_count(bool strict = false) const;
  double by_time(bool strict = false) const;
};

ModuleCoverage ComputeCoverage(const ModuleSamples& module, const std::vector<NamedCost>& costs);

}  // namespace pgle
