// Waiting taken out of collectives. A collective's kernels run from the moment their device arrives
// until the transfer is over, so a duration holds the wait for the slowest participant. The
// transfer itself takes about the shortest duration over the participants; what lies above it is
// waiting, and partly contention.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "extract/module_samples.h"

namespace pgle {

struct TransferReport {
  uint64_t matched = 0;       // executions that found their participants
  uint64_t unmatched = 0;     // executions left with their plain duration
  uint64_t idle = 0;          // executions of devices that are in no pair, left out
  Picoseconds plain = 0;      // sum of the matched durations as measured
  Picoseconds removed = 0;    // of that, time above the fastest participant
  uint64_t small_groups = 0;  // names whose replica groups are larger than what was traced

  TransferReport& operator+=(const TransferReport& other);
};

// Replaces durations by transfer times over the devices of each file. Participants of an execution
// are those that run the op at the same time, one a device; where all devices of a replica group
// run it equally often, the k-th on each.
//
// Ids of the HLO are taken for the file's devices only where the module ran in one process on the
// devices 0..n-1, no id is above them, and the module's device assignment, where known, is 0..n-1
// too. Then each replica group is settled by itself. Where groups cannot be told apart and are
// smaller than the file's devices, the k-th executions are settled only where all devices run them
// at one time; else they keep their durations.
//
// Point-to-point: the participants are the connected component of the pairs; the value is that of
// the participant that started last; devices in no pair are left out. Where the pairs' ids are not
// those of the file's devices nothing is settled: a device that is idle there cannot be told.
TransferReport CorrectWithinFiles(ModuleSamples& module);

// The same across files, by order of execution, where all devices ran the op equally often.
// Only collectives whose group is known to span all devices that ran them, or whose group size is
// unknown: which devices of which file are one of several groups cannot be told. The same holds for
// pairs, so point-to-point is never settled here. What is not settled keeps its value.
// Call after CorrectWithinFiles; its report counts an execution as matched where either matched it.
TransferReport CorrectAcrossFiles(ModuleSamples& module);

}  // namespace pgle
