// A hash map from pairs of 64-bit numbers to 32-bit ones, for millions of entries: one array, no
// node of its own for an entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pgle {

class FlatMap {
 public:
  // The value of a key, 0 when it is new. Valid until the next call.
  uint32_t& operator()(uint64_t a, uint64_t b) {
    if ((size_ + 1) * 2 > slots_.size()) Grow();
    Slot& slot = Find(a, b);
    if (!slot.is_used) {
      slot = {a, b, 0, true};
      ++size_;
    }
    return slot.value;
  }
  size_t size() const { return size_; }

 private:
  struct Slot {
    uint64_t a = 0, b = 0;
    uint32_t value = 0;
    bool is_used = false;
  };
  Slot& Find(uint64_t a, uint64_t b) {
    uint64_t hash = (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu);
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 32;
    for (size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[i];
      if (!slot.is_used || (slot.a == a && slot.b == b)) return slot;
    }
  }
  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    std::swap(old, slots_);
    for (const Slot& slot : old) {
      if (slot.is_used) Find(slot.a, slot.b) = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace pgle
