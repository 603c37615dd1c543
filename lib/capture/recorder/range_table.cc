#include "capture/recorder/range_table.h"

#include "capture/recorder/memory.h"

namespace pgle::recorder {

bool RangeTable::Init() {
  slots_ = Reserve<std::atomic<uint64_t>>(kSlots);
  order_ = Reserve<std::atomic<uint32_t>>(kMaxRanges);
  return slots_ != nullptr && order_ != nullptr;
}

RangeTable::Found RangeTable::Intern(uint32_t parent, uint32_t text) {
  const uint64_t key = static_cast<uint64_t>(parent) << 32 | text;
  // Texts are counted from 1, so that no key is 0 unless its text was lost.
  if (text == 0) return {parent, false};
  uint64_t hash = key * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
  for (uint32_t slot = static_cast<uint32_t>(hash) % kSlots;; slot = (slot + 1) % kSlots) {
    uint64_t held = slots_[slot].load(std::memory_order_relaxed);
    if (held == key) return {slot + 1, false};
    if (held != 0) continue;
    if (count_.load(std::memory_order_relaxed) >= kMaxRanges - 1024) {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return {0, false};
    }
    if (slots_[slot].compare_exchange_strong(held, key, std::memory_order_relaxed)) {
      const uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
      if (index < kMaxRanges) order_[index].store(slot + 1, std::memory_order_release);
      return {slot + 1, true};
    }
    if (held == key) return {slot + 1, false};
  }
}

bool RangeTable::At(uint32_t index, RangeEntry* entry) const {
  const uint32_t id = index < kMaxRanges ? order_[index].load(std::memory_order_acquire) : 0;
  if (id == 0) return false;
  const uint64_t key = slots_[id - 1].load(std::memory_order_relaxed);
  *entry = {id, static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(key), 0};
  return true;
}

}  // namespace pgle::recorder
