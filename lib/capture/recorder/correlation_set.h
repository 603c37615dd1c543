// The launches whose records have not come yet: one bit for each correlation id that there can be,
// in address space that costs memory only where it is used.
#pragma once

#include <cstdint>

#include "capture/recorder/memory.h"

namespace pgle::recorder {

// Correlation ids count up and wrap at 32 bits.
inline bool IsLater(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) > 0;
}

class CorrelationSet {
 public:
  bool Init() {
    words_ = Reserve<uint64_t>(size_t{1} << 26);
    return words_ != nullptr;
  }
  void Add(uint32_t id) {
    uint64_t& word = words_[id / 64];
    const uint64_t bit = uint64_t{1} << id % 64;
    count_ += (word & bit) == 0 ? 1 : 0;
    word |= bit;
  }
  void Remove(uint32_t id) {
    uint64_t& word = words_[id / 64];
    const uint64_t bit = uint64_t{1} << id % 64;
    count_ -= (word & bit) != 0 ? 1 : 0;
    word &= ~bit;
  }
  uint64_t count() const { return count_; }

 private:
  uint64_t* words_ = nullptr;
  uint64_t count_ = 0;
};

}  // namespace pgle::recorder
