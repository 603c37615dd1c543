// The texts of XLA's NVTX ranges: "NAME#key=value,key=value#".
// Source: XLA, tsl/profiler/utils/parse_annotation.cc (grammar), and
// xla/backends/gpu/runtime/annotation.cc (keys).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace pgle {

struct Annotation {
  std::string_view name;                                                // "Thunk:", "XlaModule:"
  std::vector<std::pair<std::string_view, std::string_view>> metadata;  // in order

  // The value of a key; empty when it is not there.
  std::string_view Find(std::string_view key) const;
};

// Views into `text`. Commas inside quotes and brackets do not part values; without a closing "#"
// the whole text is the name.
Annotation ParseAnnotation(std::string_view text);

// A decimal number, as program_id is written; nothing when the text is no number.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace pgle
