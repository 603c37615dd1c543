// What the latency hiding scheduler asks a profile for: XLA's accuracy checker walked over a module
// (profile_guided_latency_estimator.cc, CheckAccuracy; gpu_latency_hiding_scheduler.cc). Checked
// against XLA's own logs: equal sets of missing names and equal counts.
#pragma once

#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace pgle {

enum class QueryKind {
  kCost,        // the cost of a node, by its own name
  kCollective,  // the latency of an asynchronous collective: start's name, else wrapped name
  kAsyncStart,  // the start of another asynchronous pair: cost by its own name, and latency
  kAsyncDone,   // the done of another asynchronous pair: cost by its own name
};

struct SchedulerQuery {
  QueryKind kind;
  uint32_t instruction;           // at run time; the start for kCollective of an async pair
  std::string_view name;          // at scheduling time
  std::string_view wrapped_name;  // second choice of a latency look-up; may be empty
  bool is_free = false;           // never counted as missing; counts as found if it has an entry
};

// Walks the entry computation and every computation whose only caller is a `while`, in order.
// Instructions without a scheduling name are passed over, since XLA added them after scheduling;
// in a module without any scheduling name (older XLA) each instruction stands under its own name.
std::vector<SchedulerQuery> SchedulerQueries(const HloModule& module);

// A call that stands for a command buffer: older XLA records its computation as a CUDA graph.
bool IsCommandBufferCall(const HloModule& module, uint32_t instruction);

}  // namespace pgle
