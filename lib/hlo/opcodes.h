// What the latency hiding scheduler's rules ask of an opcode.
#pragma once

#include <string_view>

namespace pgle {

// all-gather, all-reduce, reduce-scatter, all-to-all, ragged-all-to-all, collective-broadcast,
// collective-permute, send, recv; not their -start and -done forms.
bool IsCollective(std::string_view opcode);

// The old asynchronous forms, opcodes of their own: all-gather-start, all-reduce-start,
// collective-permute-start; and their -done forms, with send-done and recv-done.
bool IsLegacyCollectiveStart(std::string_view opcode);
bool IsLegacyCollectiveDone(std::string_view opcode);

// Communication between pairs of devices, where a device may be in none.
bool IsPointToPoint(std::string_view opcode);

// Instructions that XLA's accuracy checker never counts as missing
// (gpu_latency_hiding_scheduler.cc, GPUProfileStatisticsAggregator and IsNopInstruction).
bool IsFree(std::string_view opcode);

}  // namespace pgle
