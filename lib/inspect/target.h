// Which modules a gate is about: a dump also holds the many small ones that JAX and the autotuner
// compile.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/coverage.h"

namespace pgle {

// Indices of the modules that match `pattern` (RE2, unanchored); where it is empty: those whose
// fingerprint the profile names, else the user's module with most look-ups.
// Errors: a bad pattern; nothing matches.
Result<std::vector<size_t>> TargetModules(const std::vector<HloCoverage>& modules,
                                          const std::string& pattern);

}  // namespace pgle
