#include "hlo/opcodes.h"

#include <algorithm>
#include <array>

namespace pgle {
namespace {

template <size_t N>
bool IsOneOf(std::string_view opcode, const std::array<std::string_view, N>& set) {
  return std::find(set.begin(), set.end(), opcode) != set.end();
}

}  // namespace

bool IsCollective(std::string_view opcode) {
  static constexpr std::array<std::string_view, 9> kSet = {"all-gather",
                                                           "all-reduce",
                                                           "reduce-scatter",
                                                           "all-to-all",
                                                           "ragged-all-to-all",
                                                           "collective-broadcast",
                                                           "collective-permute",
                                                           "send",
                                                           "recv"};
  return IsOneOf(opcode, kSet);
}

bool IsLegacyCollectiveStart(std::string_view opcode) {
  static constexpr std::array<std::string_view, 3> kSet = {"all-gather-start", "all-reduce-start",
                                                           "collective-permute-start"};
  return IsOneOf(opcode, kSet);
}

bool IsLegacyCollectiveDone(std::string_view opcode) {
  static constexpr std::array<std::string_view, 5> kSet = {
      "all-gather-done", "all-reduce-done", "collective-permute-done", "send-done", "recv-done"};
  return IsOneOf(opcode, kSet);
}

bool IsPointToPoint(std::string_view opcode) {
  static constexpr std::array<std::string_view, 4> kSet = {
      "collective-permute", "collective-permute-start", "send", "recv"};
  return IsOneOf(opcode, kSet);
}

bool IsFree(std::string_view opcode) {
  static constexpr std::array<std::string_view, 10> kSet = {"get-tuple-element",
                                                            "bitcast",
                                                            "constant",
                                                            "parameter",
                                                            "tuple",
                                                            "partition-id",
                                                            "replica-id",
                                                            "while",
                                                            "optimization-barrier",
                                                            "copy"};
  return IsOneOf(opcode, kSet);
}

}  // namespace pgle
