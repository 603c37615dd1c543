#include "hlo/scheduler_queries.h"

#include <algorithm>
#include <unordered_set>

#include "hlo/opcodes.h"

namespace pgle {
namespace {

bool IsWalked(const HloModule& module, uint32_t index) {
  if (index == module.entry()) return true;
  const std::vector<uint32_t>& callers = module.computation(index).callers;
  if (callers.size() != 1) return false;
  const HloInstruction& caller = module.instruction(callers.front());
  if (caller.opcode == "while") return true;
  // Before mid-2025 XLA moved the instructions of a command buffer into a computation of their own,
  // after scheduling.
  return IsCommandBufferCall(module, callers.front()) && IsWalked(module, caller.computation);
}

// The async-start behind an async-done (or async-update), through its first operands.
uint32_t StartOf(const HloModule& module, uint32_t done) {
  uint32_t current = done;
  for (size_t steps = 0; steps < module.instructions().size(); ++steps) {
    if (module.instruction(current).operands.empty()) return kNoInstruction;
    current = module.instruction(current).operands.front();
    const std::string_view opcode = module.instruction(current).opcode;
    if (opcode == "async-start") return current;
    if (opcode != "async-update") return kNoInstruction;
  }
  return kNoInstruction;
}

bool WrapsCollective(const HloModule& module, uint32_t start) {
  const uint32_t wrapped = module.WrappedInstruction(start);
  return wrapped != kNoInstruction && IsCollective(module.instruction(wrapped).opcode);
}

}  // namespace

bool IsCommandBufferCall(const HloModule& module, uint32_t index) {
  const HloInstruction& instruction = module.instruction(index);
  return instruction.opcode == "call" && instruction.calls.size() == 1 &&
         module.computation(instruction.calls.front()).name.substr(0, 14) == "command_buffer";
}

std::vector<SchedulerQuery> SchedulerQueries(const HloModule& module) {
  std::vector<SchedulerQuery> queries;
  // A clone that rematerialization made after scheduling carries its original's scheduling name.
  std::unordered_set<std::string_view> asked;
  for (uint32_t c = 0; c < module.computations().size(); ++c) {
    if (!IsWalked(module, c)) continue;
    for (uint32_t i : module.computation(c).instructions) {
      const HloInstruction& instruction = module.instruction(i);
      const std::string_view opcode = instruction.opcode;
      const std::string_view name = module.SchedulerName(i);
      if (name.empty() || !asked.insert(name).second) continue;
      SchedulerQuery query{QueryKind::kCost, i, name, {}, IsFree(opcode)};
      if (opcode == "async-start") {
        const uint32_t wrapped = module.WrappedInstruction(i);
        if (wrapped != kNoInstruction) query.wrapped_name = module.instruction(wrapped).name;
        query.kind = WrapsCollective(module, i) ? QueryKind::kCollective : QueryKind::kAsyncStart;
      } else if (opcode == "async-done" || opcode == "async-update") {
        const uint32_t start = StartOf(module, i);
        if (start != kNoInstruction && WrapsCollective(module, start)) continue;
        query.kind = QueryKind::kAsyncDone;
      } else if (opcode == "copy-start") {
        query.kind = QueryKind::kAsyncStart;
      } else if (opcode == "copy-done") {
        query.kind = QueryKind::kAsyncDone;
      } else if (IsLegacyCollectiveDone(opcode)) {
        continue;
      } else if (IsLegacyCollectiveStart(opcode) || opcode == "send" || opcode == "recv" ||
                 (IsCollective(opcode) && name != instruction.name)) {
        query.kind = QueryKind::kCollective;
      }
      queries.push_back(query);
    }
  }
  return queries;
}

}  // namespace pgle
