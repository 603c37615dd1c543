// Sample files into one profile, one sample file, or both, in one pass.
#pragma once

#include "merge/merge.h"

namespace pgle {

// Fills `merged` from sample files, and writes options.samples_out once all is well.
// Errors: as Merge().
Status MergeSamples(const std::vector<std::string>& files, const MergeOptions& options,
                    Merged* merged);

}  // namespace pgle
