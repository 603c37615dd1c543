// A program of random pushes, pops, launches and graphs: what is attributed must be what the
// actor's plain stack says.
#pragma once

#include <cstdint>

#include "actor.h"

namespace pgle::fake {

// Half of the operations, `pause_ms`, and the other half.
void RunRandomProgram(Actor* actor, uint64_t seed, int operations, int devices, int pause_ms);

}  // namespace pgle::fake
