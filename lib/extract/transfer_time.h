// Waiting taken out of collectives. A collective's kernels run from the moment their device arrives
// until the transfer is over, so a duration holds the wait for the slowest participant. The transfer
// itself takes about the shortest duration over the participants; what lies above it is waiting, and
// partly contention.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "extract/module_samples.h"

namespace pgle {

struct TransferReport {
  uint64_t matched = 0;    // executions that found their participants
  uint64_t unmatched = 0;  // executions left with their plain duration
  uint64_t idle = 0;       // executions of devices that are in no pair, left out
  Picoseconds plain = 0;   // sum of the matched durations as measured
  Picoseconds removed = 0;  // of that, time above the fastest participant
  uint64_t small_groups = 0;  // names whose replica groups are larger than what was traced

  TransferReport& operator+=(const TransferReport& other);
};

// Replaces durations by transfer times over the devices of each file. Participants of an execution
// are those that run the op at the same time, one a device; where all devices run it equally often,
// the k-th on each.
// Point-to-point: the participants are the connected component of the pairs; the value is that of
// the participant that started last; devices in no pair are left out.
TransferReport CorrectWithinFiles(ModuleSamples& module);

// The same across files, by order of execution, where all devices ran the op equally often.
// Call after CorrectWithinFiles; its report counts an execution as matched where either matched it.
TransferReport CorrectAcrossFiles(ModuleSamples& module);

}  // namespace pgle
