#include "hlo/module.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/module_builder.h"
#include "hlo/opcodes.h"
#include "profile/remat.h"

namespace pgle {

std::string_view HloModule::SchedulerName(uint32_t index) const {
  const HloInstruction& instruction = instructions_[index];
  if (has_scheduling_names_) return instruction.scheduling_name;
  return instruction.name.substr(0, instruction.name.size() - RematSuffix(instruction.name).size());
}

uint32_t HloModule::FindById(int64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? kNoInstruction : it->second;
}

uint32_t HloModule::FindByName(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? kNoInstruction : it->second;
}

uint32_t HloModule::WrappedInstruction(uint32_t index) const {
  const HloInstruction* start = &instructions_[index];
  uint32_t wrapped = kNoInstruction;
  while (start->opcode == "async-start" && !start->calls.empty()) {
    wrapped = computations_[start->calls.front()].root;
    if (wrapped == kNoInstruction) return kNoInstruction;
    start = &instructions_[wrapped];
  }
  return wrapped;
}

uint32_t HloModule::AsyncStartOf(uint32_t index) const {
  uint32_t start = kNoInstruction;
  while (true) {
    const HloComputation& computation = computations_[instructions_[index].computation];
    if (computation.callers.empty()) return start;
    // async-update and async-done name the computation too; the start is the caller that begins it.
    uint32_t outer = kNoInstruction;
    for (uint32_t caller : computation.callers) {
      if (instructions_[caller].opcode == "async-start") outer = caller;
    }
    if (outer == kNoInstruction) return start;
    start = index = outer;
  }
}

uint32_t HloModule::CollectiveIn(uint32_t index) const {
  const HloInstruction& instruction = instructions_[index];
  if (IsCollective(instruction.opcode) || IsLegacyCollectiveStart(instruction.opcode)) {
    return index;
  }
  if (instruction.opcode != "async-start" && instruction.opcode != "fusion" &&
      instruction.opcode != "call") {
    return kNoInstruction;
  }
  for (uint32_t called : instruction.calls) {
    if (collective_in_[called] != kNoInstruction) return collective_in_[called];
  }
  return kNoInstruction;
}

Result<HloModule> ParseHlo(std::string_view bytes, const std::string& name, HloDetail detail) {
  if (bytes.substr(0, 10) == "HloModule ") return ParseHloText(bytes, name, detail);
  return ParseHloProto(bytes, name, detail);
}

std::string_view HloModuleBuilder::Intern(std::string_view text) {
  if (text.empty()) return {};
  const auto it = interned_.find(text);
  if (it != interned_.end()) return it->second;
  const std::string_view kept = module_.strings_.emplace_back(text);
  interned_.emplace(kept, kept);
  return kept;
}

uint32_t HloModuleBuilder::AddComputation(std::string_view name) {
  module_.computations_.emplace_back().name = Intern(name);
  return static_cast<uint32_t>(module_.computations_.size() - 1);
}

uint32_t HloModuleBuilder::AddInstruction(HloInstruction instruction) {
  const auto index = static_cast<uint32_t>(module_.instructions_.size());
  module_.computations_[instruction.computation].instructions.push_back(index);
  module_.instructions_.push_back(std::move(instruction));
  return index;
}

// Callees before callers; empty when the calls form a cycle, which no valid module has.
static std::vector<uint32_t> CalleesFirst(const HloModule& module) {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(module.computations().size(), Mark::kNew);
  std::vector<uint32_t> order;
  std::vector<std::pair<uint32_t, bool>> stack;  // computation, whether it is being left
  for (uint32_t first = 0; first < marks.size(); ++first) {
    stack.push_back({first, false});
    while (!stack.empty()) {
      const auto [current, leaving] = stack.back();
      stack.pop_back();
      if (leaving) {
        marks[current] = Mark::kDone;
        order.push_back(current);
        continue;
      }
      if (marks[current] != Mark::kNew) continue;
      marks[current] = Mark::kOpen;
      stack.push_back({current, true});
      for (uint32_t instruction : module.computation(current).instructions) {
        for (uint32_t called : module.instruction(instruction).calls) {
          if (marks[called] == Mark::kOpen) return {};
          if (marks[called] == Mark::kNew) stack.push_back({called, false});
        }
      }
    }
  }
  return order;
}

Result<HloModule> HloModuleBuilder::Finish(const std::string& name) {
  if (module_.entry_ == kNoComputation) {
    return Failed(name, "the HLO module has no entry computation",
                  "give a file *_gpu_after_optimizations.hlo.pb or .txt of an XLA dump");
  }
  module_.by_name_.reserve(module_.instructions_.size());
  for (uint32_t i = 0; i < module_.instructions_.size(); ++i) {
    const HloInstruction& instruction = module_.instructions_[i];
    if (!module_.by_name_.emplace(instruction.name, i).second) {
      return Failed(name, fmt::format("two instructions are called '{}'", instruction.name),
                    "the module is damaged: dump it again");
    }
    module_.has_scheduling_names_ |= !instruction.scheduling_name.empty();
    if (instruction.id != 0) module_.by_id_.emplace(instruction.id, i);
    for (uint32_t called : instruction.calls) module_.computations_[called].callers.push_back(i);
  }
  for (HloComputation& computation : module_.computations_) {
    if (computation.root == kNoInstruction) {
      return Failed(name, fmt::format("computation '{}' has no root", computation.name),
                    "the module is damaged: dump it again");
    }
    module_.instructions_[computation.root].is_root = true;
  }
  module_.callees_first_ = CalleesFirst(module_);
  if (module_.callees_first_.empty()) {
    return Failed(name, "computations of the HLO module call each other in a circle",
                  "the module is damaged: dump it again");
  }
  module_.collective_in_.assign(module_.computations_.size(), kNoInstruction);
  for (uint32_t computation : module_.callees_first_) {
    for (uint32_t inner : module_.computations_[computation].instructions) {
      module_.collective_in_[computation] = module_.CollectiveIn(inner);
      if (module_.collective_in_[computation] != kNoInstruction) break;
    }
  }
  if (module_.fingerprint_.empty()) module_.fingerprint_ = module_.root_fingerprint_;
  return std::move(module_);
}

}  // namespace pgle
