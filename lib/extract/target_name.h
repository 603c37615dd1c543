// From an instruction as it ran to the name under which the latency hiding scheduler will ask for
// its cost.
#pragma once

#include <string_view>

#include "hlo/module.h"

namespace pgle {

enum class CostClass : uint8_t {
  kCompute,
  kCollective,    // every participant moves data: transfer time is the shortest duration
  kPointToPoint,  // collective-permute, send, recv: devices may be idle
};

struct TargetName {
  // The scheduling-time name: that of the start for a collective. Empty for what is never looked
  // up: the done of a collective.
  std::string_view name;
  CostClass cost_class = CostClass::kCompute;
  // The collective behind it, for its groups and pairs; kNoInstruction otherwise.
  uint32_t collective = kNoInstruction;
  // The async-start of an asynchronous pair that is no collective (fusion-start, copy-start);
  // kNoInstruction otherwise.
  uint32_t async_start = kNoInstruction;
  // XLA set no scheduling name: the name is the run-time one.
  bool is_own_name = false;
};

TargetName TargetNameOf(const HloModule& module, uint32_t instruction);

}  // namespace pgle
