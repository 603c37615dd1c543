// Recordings made of what the test data holds.
#pragma once

#include <cstdint>
#include <string>

namespace pgle {

// As the program of a real trace would have been recorded: one launch for each device event, or
// with `graphs` one graph for each execution of the module. `copies`: of the whole trace, one after
// another. Empty when it cannot be read.
std::string SpillFromTrace(const std::string& trace, bool graphs, uint64_t copies);

// Two steps on one device, each one launch of a graph that holds every instruction of the module's
// schedule once, nodes copied twice as child graphs are. Empty when it cannot be read.
std::string SpillFromHlo(const std::string& hlo_proto);

}  // namespace pgle
