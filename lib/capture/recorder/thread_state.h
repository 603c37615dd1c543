// What the recorder knows of each thread of the program: its stack of XLA's ranges, and its events.
#pragma once

#include <atomic>
#include <cstdint>

#include "capture/recorder/event_ring.h"
#include "capture/recorder/module_table.h"

namespace pgle::recorder {

inline constexpr uint32_t kMaxDepth = 64;

struct OpenRange {
  uint32_t stack;  // the stack of ranges with this one on top
  uint32_t scope;  // the number of its push on this thread
};

struct ThreadState {
  enum Use : uint32_t { kFree = 0, kInUse = 1, kEnded = 2 };
  std::atomic<uint32_t> use;
  uint32_t number;  // in the pool
  uint32_t tid;
  std::atomic<EventRing*> ring;  // null until the thread has an event

  // Of the thread alone.
  uint32_t depth;  // may exceed kMaxDepth: what is deeper keeps the stack of the last that fits
  uint32_t pushes;
  OpenRange open[kMaxDepth];
  Module* module;         // innermost open XlaModule
  uint32_t module_depth;  // its depth in `open`, plus one
  uint32_t module_lane;   // where its execution is counted
  uint32_t executions;    // XlaModule pushes so far
  uint32_t execution;     // the open one; 0 outside of modules
  uint8_t module_device;

  uint32_t stack() const {
    return depth == 0 ? 0 : open[(depth < kMaxDepth ? depth : kMaxDepth) - 1].stack;
  }
  uint32_t scope() const {
    return depth == 0 ? 0 : open[(depth < kMaxDepth ? depth : kMaxDepth) - 1].scope;
  }
};

class ThreadPool {
 public:
  static constexpr uint32_t kMaxThreads = 4096;
  static constexpr uint32_t kMaxRings = 512;

  bool Init();

  // The calling thread's state; null when it has none and there is none left (counted), or the
  // thread is ending.
  ThreadState* Current();
  // Its ring; null when there is none left (counted).
  EventRing* RingOf(ThreadState* thread);

  // Of the control thread: states 0 to count()-1 may be in use. Frees a state whose thread has
  // ended, once its ring was read to the end.
  uint32_t count() const;
  ThreadState* At(uint32_t index) { return &threads_[index]; }
  void Recycle(ThreadState* thread);
  // Events that found a ring full or no ring, of ended threads too.
  uint64_t lost() const;
  void CountLoss() { lost_.fetch_add(1, std::memory_order_relaxed); }

 private:
  ThreadState* threads_ = nullptr;
  EventRing* rings_ = nullptr;
  std::atomic<uint32_t> threads_made_, rings_made_;
  std::atomic<uint32_t> ring_is_free_[kMaxRings];
  std::atomic<uint64_t> lost_;
};

}  // namespace pgle::recorder
