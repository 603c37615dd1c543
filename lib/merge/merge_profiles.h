// Profiles into one, as jaxlib aggregates them.
#pragma once

#include "merge/merge.h"

namespace pgle {

// Fills `merged` from profile files: all entries of a name over all inputs, a name missing
// somewhere over those that have it, duplicates included (xla/python/aggregate_profile.cc). Errors:
// as Merge().
Status MergeProfiles(const std::vector<std::string>& files, const MergeOptions& options,
                     Merged* merged);

}  // namespace pgle
