// Stacks of NVTX ranges, interned: a stack is its innermost text and the stack below, and has a
// number.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capture/recorder/spill_format.h"

namespace pgle::recorder {

class RangeTable {
 public:
  bool Init();

  struct Found {
    uint32_t id;    // 0 when the table is full (counted)
    bool is_fresh;  // this call made it
  };
  // The stack with the text on top of `parent`. Safe from all threads; never blocks.
  Found Intern(uint32_t parent, uint32_t text);

  // The stacks in the order in which they were made; false beyond the last complete one.
  bool At(uint32_t index, RangeEntry* entry) const;
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kSlots = 1 << 21;
  static constexpr uint32_t kMaxRanges = kSlots / 4 * 3;

  std::atomic<uint32_t>* slots_ = nullptr;   // by hash: a stack's number, 0 = free
  std::atomic<uint64_t>* stacks_ = nullptr;  // by number, minus one: parent << 32 | text
  std::atomic<uint32_t> count_;
  std::atomic<uint64_t> lost_;
};

}  // namespace pgle::recorder
