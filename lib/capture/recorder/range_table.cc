#include "capture/recorder/range_table.h"

#include "capture/recorder/memory.h"

namespace pgle::recorder {

bool RangeTable::Init() {
  slots_ = Reserve<std::atomic<uint32_t>>(kSlots);
  stacks_ = Reserve<std::atomic<uint64_t>>(kMaxRanges);
  return slots_ != nullptr && stacks_ != nullptr;
}

RangeTable::Found RangeTable::Intern(uint32_t parent, uint32_t text) {
  // A text that was lost is passed over: its stack is the one below.
  if (text == 0) return {parent, false};
  const uint64_t key = static_cast<uint64_t>(parent) << 32 | text;
  uint64_t hash = key * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
  uint32_t fresh = 0;
  for (uint32_t slot = static_cast<uint32_t>(hash) % kSlots;; slot = (slot + 1) % kSlots) {
    uint32_t held = slots_[slot].load(std::memory_order_acquire);
    if (held == 0) {
      if (fresh == 0) {
        const uint32_t index = count_.load(std::memory_order_relaxed) < kMaxRanges
                                   ? count_.fetch_add(1, std::memory_order_relaxed)
                                   : kMaxRanges;
        if (index >= kMaxRanges) {
          lost_.fetch_add(1, std::memory_order_relaxed);
          return {0, false};
        }
        fresh = index + 1;
        stacks_[index].store(key, std::memory_order_release);
      }
      if (slots_[slot].compare_exchange_strong(held, fresh, std::memory_order_acq_rel)) {
        return {fresh, true};
      }
    }
    // Where another thread came first with the same stack, our number stays without use.
    if (stacks_[held - 1].load(std::memory_order_relaxed) == key) return {held, false};
  }
}

bool RangeTable::At(uint32_t index, RangeEntry* entry) const {
  const uint64_t key = index < kMaxRanges ? stacks_[index].load(std::memory_order_acquire) : 0;
  if (key == 0) return false;
  *entry = {index + 1, static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key), 0};
  return true;
}

}  // namespace pgle::recorder
