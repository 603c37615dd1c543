// Which process of a job this is, as its launcher says in the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capture/environment.h"

namespace pgle {

struct Rank {
  std::optional<uint32_t> rank;
  uint32_t ranks = 0;    // 0: not known
  std::string variable;  // that `rank` was taken of
  std::string job;       // equal on all ranks and on them alone; empty where the launcher has none

  // A rank of unknown many counts as one of several: files must not collide.
  bool is_one_of_several() const { return rank.has_value() && ranks != 1; }
};

// The launcher nearest to the process counts: mpirun inside a Slurm job hands down SLURM_PROCID of
// the batch script or of its daemon, which is the same for several ranks. srun with a PMI plugin
// sets the PMI's rank and SLURM_PROCID to the same number.
Rank FindRank(const Environment& environment);

}  // namespace pgle
