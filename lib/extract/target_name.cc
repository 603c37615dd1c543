#include "extract/target_name.h"

#include "hlo/opcodes.h"

namespace pgle {

TargetName TargetNameOf(const HloModule& module, uint32_t index) {
  TargetName target;
  const HloInstruction& instruction = module.instruction(index);
  if (IsLegacyCollectiveDone(instruction.opcode)) return target;

  uint32_t start = module.AsyncStartOf(index);
  if (start == kNoInstruction && instruction.opcode == "async-start") start = index;
  const uint32_t named = start == kNoInstruction ? index : start;
  const uint32_t wrapped =
      start == kNoInstruction ? kNoInstruction : module.WrappedInstruction(start);

  target.collective = module.CollectiveIn(named);
  if (target.collective != kNoInstruction) {
    const std::string_view opcode = module.instruction(target.collective).opcode;
    target.cost_class = IsPointToPoint(opcode) ? CostClass::kPointToPoint : CostClass::kCollective;
  }
  if (wrapped != kNoInstruction && !IsCollective(module.instruction(wrapped).opcode)) {
    target.async_start = start;
  } else if (instruction.opcode == "copy-start") {
    target.async_start = index;
  }
  target.name = module.SchedulerName(named);
  target.is_own_name = module.instruction(named).scheduling_name.empty();
  if (target.name.empty()) target.name = module.instruction(named).name;
  return target;
}

}  // namespace pgle
