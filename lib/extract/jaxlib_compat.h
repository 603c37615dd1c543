// jaxlib's own extraction, entry for entry:
// jax.experimental.profiler.get_profiled_instructions_proto (XLA:
// xla/python/xplane_to_profile_instructions.cc).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "extract/process_trace.h"
#include "profile/cost_profile.h"

namespace pgle {

enum class JaxlibRules {
  // Up to jaxlib 0.11.2: the mean over single events (kernels, copies, memsets), summed in double
  // in
  // the order stored, files in the order given. Equal to the last bit.
  kEvents,
  // jaxlib 0.12.0 and later: events of one name and scope_range_id (else of one start) make one
  // span
  // from first start to last end; the mean over the spans of each file. jaxlib sums them in the
  // order
  // of a hash table that changes from run to run, and so do its last bits; here: order of
  // appearance.
  kSpans,
};

// Names are run-time names, bare unless the entry computation's root carries a fingerprint (XLA
// before 2024-02). Entries in order of name; jaxlib's order is random.
// Errors: unreadable or damaged trace, damaged HLO.
Result<CostProfile> ExtractAsJaxlib(const std::vector<std::string>& files, JaxlibRules rules,
                                    const std::string& spool_directory);

}  // namespace pgle
