#include "inspect/cost_class.h"

#include <algorithm>
#include <array>
#include <string>

namespace pgle {
namespace {

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "dot" as a word of the name: dot.5, gemm_fusion_dot.7, not "dotted".
bool HasDotWord(std::string_view name) {
  const auto ends_word = [&](size_t at) {
    return at >= name.size() || name[at] == '.' || name[at] == '_' || name[at] == '-';
  };
  for (size_t at = name.find("dot"); at != std::string_view::npos; at = name.find("dot", at + 1)) {
    if ((at == 0 || ends_word(at - 1)) && ends_word(at + 3)) return true;
  }
  return false;
}

}  // namespace

bool IsGemmName(std::string_view instruction) {
  return StartsWith(instruction, "custom-call") || StartsWith(instruction, "cublas") ||
         Contains(instruction, "gemm") || Contains(instruction, "matmul") ||
         HasDotWord(instruction);
}

std::string_view CostClassOf(std::string_view instruction) {
  // Longer names before those that they begin with. A wrapped or fused collective is named after
  // it: all-reduce.5.0-fusion.
  static constexpr std::array<std::string_view, 7> kCollectives = {
      "ragged-all-to-all", "all-to-all",           "all-gather",        "all-reduce",
      "reduce-scatter",    "collective-broadcast", "collective-permute"};
  for (std::string_view kind : kCollectives) {
    if (StartsWith(instruction, kind)) return kind;
  }
  for (std::string_view kind : {std::string_view("send"), std::string_view("recv")}) {
    if (instruction == kind || StartsWith(instruction, std::string(kind) + ".") ||
        StartsWith(instruction, std::string(kind) + "-")) {
      return kind;
    }
  }
  if (StartsWith(instruction, "command_buffer")) return "command buffer";
  if (IsGemmName(instruction)) return "gemm";
  if (StartsWith(instruction, "copy") && !Contains(instruction, "fusion")) return "copy";
  if (Contains(instruction, "fusion") || StartsWith(instruction, "wrapped_")) return "fusion";
  return "other";
}

}  // namespace pgle
