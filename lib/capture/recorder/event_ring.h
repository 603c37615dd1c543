// What one thread has to tell the control thread: written by the one, read by the other, without a
// lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "capture/recorder/spill_format.h"

namespace pgle::recorder {

class EventRing {
 public:
  // Of the owning thread. A full ring loses the event, and counts it.
  void Push(const Event& event) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) >= kCapacity) {
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    events_[head % kCapacity] = event;
    head_.store(head + 1, std::memory_order_release);
  }

  // Of the control thread: copies up to `limit` events and frees their places.
  uint32_t Pop(Event* events, uint32_t limit) {
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t head = head_.load(std::memory_order_acquire);
    uint32_t count = 0;
    for (; tail != head && count < limit; ++tail) events[count++] = events_[tail % kCapacity];
    tail_.store(tail, std::memory_order_release);
    return count;
  }

  bool is_empty() const {
    return tail_.load(std::memory_order_relaxed) == head_.load(std::memory_order_acquire);
  }
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint64_t kCapacity = 1 << 16;

  alignas(64) std::atomic<uint64_t> head_;
  std::atomic<uint64_t> lost_;
  alignas(64) std::atomic<uint64_t> tail_;
  alignas(64) Event events_[kCapacity];
};

}  // namespace pgle::recorder
