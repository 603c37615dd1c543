// Makes HLO protos small: they are most of a short recording.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pgle {

// What stays is what XProf's views of ops and these tools read: every computation, instruction,
// shape, operand and schedule, the metadata and names of all that the program runs. What goes:
// * the buffer assignment (XProf's memory viewer reads it; the XLA dump has it),
// * backend configs, which are the autotuner's choices and are compared from dumps; but custom
//   calls keep the dimensions by which XProf counts the work of a matrix product, and loops their
//   trip counts,
// * frontend attributes of instructions, less a fingerprint,
// * program shapes of computations, which repeat what parameters and roots say,
// * inside fusions: metadata, and names, which become short ones; collectives keep them.
// Errors: not a HloProto.
Result<std::string> TrimHloProto(std::string_view bytes, const std::string& name);

}  // namespace pgle
