#include <fmt/format.h>

#include "capture/convert/spill_builder.h"
#include "hlo/module.h"
#include "hlo/opcodes.h"
#include "io/input.h"
#include "spill_sources.h"

namespace pgle {
namespace {

constexpr uint64_t kStepNs = 10'000'000;

// What runs no kernel of its own.
bool IsSilent(std::string_view opcode) {
  for (std::string_view silent : {"parameter", "constant", "tuple", "get-tuple-element", "bitcast",
                                  "while", "conditional", "call", "partition-id", "replica-id"}) {
    if (opcode == silent) return true;
  }
  return opcode.size() > 5 && opcode.substr(opcode.size() - 5) == "-done";
}

}  // namespace

std::string SpillFromHlo(const std::string& hlo_proto) {
  const Result<Input> input = Input::Open(hlo_proto);
  if (!input.ok()) return {};
  const Result<HloModule> module = ParseHloProto(input->bytes(), hlo_proto);
  if (!module.ok()) return {};

  SpillBuilder spill;
  const std::string text =
      fmt::format("XlaModule:#hlo_module={},program_id={}#", module->name(), module->id());
  const uint32_t run = spill.Stack({text});
  const uint32_t launch = spill.Range(run, "Thunk:#name=command_buffer,hlo_op=command_buffer#");
  std::vector<std::string> ops;
  spill.ModuleBegin(0, 0, run, kStepNs, 0, 1);
  for (uint32_t index : module->computation(module->entry()).instructions) {
    const HloInstruction& instruction = module->instruction(index);
    if (IsSilent(instruction.opcode)) continue;
    const uint32_t wrapped = module->WrappedInstruction(index);
    ops.emplace_back(wrapped == kNoInstruction ? instruction.name
                                               : module->instruction(wrapped).name);
    const uint64_t node = ops.size();
    spill.NodeCreated(0, node, spill.Range(run, fmt::format("Thunk:#hlo_op={}#", ops.back())),
                      static_cast<uint32_t>(node));
    spill.NodeCloned(0, node + 1'000'000, node);
    spill.NodeCloned(0, node + 2'000'000, node + 1'000'000);
  }
  spill.ModuleEnd(0, 0, run, kStepNs + 1, 0, 1);
  spill.Window(recorder::WindowState::kArmed, kStepNs + 2);
  for (uint32_t step = 1; step <= 3; ++step) {
    const uint64_t begin = (step + 1) * kStepNs;
    if (step == 1) spill.Window(recorder::WindowState::kOpen, begin, text, 1, 3, "test");
    if (step == 3) spill.Window(recorder::WindowState::kClosing, begin, text, 1, 3);
    spill.ModuleBegin(0, 0, run, begin, step, step + 1);
    spill.Launch(0, launch, begin + 1000, step, step, step + 1);
    spill.ModuleEnd(0, 0, run, begin + 5000, step, step + 1);
    for (size_t i = 0; i < ops.size(); ++i) {
      const uint64_t start = begin + 10'000 + i * 1'000;
      spill.Kernel(step, start, start + 500 + i, "kernel_of_" + ops[i], 0, i + 2'000'001);
    }
  }
  spill.Flush();
  spill.Window(recorder::WindowState::kClosed, 6 * kStepNs, text, 1, 3);
  spill.End(7 * kStepNs);
  return spill.bytes();
}

}  // namespace pgle
