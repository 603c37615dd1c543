#include "capture/recorder/thread_state.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/recorder/memory.h"

namespace pgle::recorder {
namespace {

// Eight bytes of static TLS, of which there is always some left for a library that is loaded late.
__attribute__((tls_model("initial-exec"))) thread_local ThreadState* current_thread = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool has_ended = false;

pthread_key_t end_of_thread;

void OnThreadEnd(void* state) {
  auto* const thread = static_cast<ThreadState*>(state);
  current_thread = nullptr;
  has_ended = true;
  thread->use.store(ThreadState::kEnded, std::memory_order_release);
}

}  // namespace

bool ThreadPool::Init() {
  threads_ = Reserve<ThreadState>(kMaxThreads);
  rings_ = Reserve<EventRing>(kMaxRings);
  return threads_ != nullptr && rings_ != nullptr &&
         pthread_key_create(&end_of_thread, OnThreadEnd) == 0;
}

ThreadState* ThreadPool::Current() {
  if (current_thread != nullptr) [[likely]]
    return current_thread;
  if (has_ended) return nullptr;
  ThreadState* found = nullptr;
  const uint32_t made = count();
  for (uint32_t i = 0; i < made && found == nullptr; ++i) {
    uint32_t expected = ThreadState::kFree;
    if (threads_[i].use.load(std::memory_order_relaxed) == ThreadState::kFree &&
        threads_[i].use.compare_exchange_strong(expected, ThreadState::kInUse,
                                                std::memory_order_acquire)) {
      found = &threads_[i];
    }
  }
  if (found == nullptr) {
    uint32_t index = threads_made_.load(std::memory_order_relaxed);
    while (index < kMaxThreads && found == nullptr) {
      uint32_t expected = ThreadState::kFree;
      if (threads_[index].use.compare_exchange_strong(expected, ThreadState::kInUse,
                                                      std::memory_order_acquire)) {
        found = &threads_[index];
      }
      ++index;
    }
    if (found == nullptr) {
      CountLoss();
      return nullptr;
    }
    uint32_t seen = threads_made_.load(std::memory_order_relaxed);
    while (seen < index &&
           !threads_made_.compare_exchange_weak(seen, index, std::memory_order_release)) {
    }
  }
  found->number = static_cast<uint32_t>(found - threads_);
  found->tid = static_cast<uint32_t>(syscall(SYS_gettid));
  // The numbers of pushes and executions go on, so that they stay unique in a thread's number.
  found->depth = 0;
  found->module = nullptr;
  found->module_depth = found->execution = 0;
  current_thread = found;
  pthread_setspecific(end_of_thread, found);
  return found;
}

EventRing* ThreadPool::RingOf(ThreadState* thread) {
  EventRing* ring = thread->ring.load(std::memory_order_relaxed);
  if (ring != nullptr) [[likely]]
    return ring;
  const uint32_t made = rings_made_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < made && i < kMaxRings && ring == nullptr; ++i) {
    if (ring_is_free_[i].load(std::memory_order_relaxed) != 0 &&
        ring_is_free_[i].exchange(0, std::memory_order_acquire) != 0) {
      ring = &rings_[i];
    }
  }
  if (ring == nullptr) {
    const uint32_t index = rings_made_.fetch_add(1, std::memory_order_relaxed);
    if (index < kMaxRings) {
      ring = &rings_[index];
    } else {
      rings_made_.store(kMaxRings, std::memory_order_relaxed);
      CountLoss();
      return nullptr;
    }
  }
  thread->ring.store(ring, std::memory_order_release);
  return ring;
}

uint64_t ThreadPool::lost() const {
  uint64_t lost = lost_.load(std::memory_order_relaxed);
  const uint32_t made = rings_made_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < made && i < kMaxRings; ++i) lost += rings_[i].lost();
  return lost;
}

uint32_t ThreadPool::count() const {
  const uint32_t made = threads_made_.load(std::memory_order_acquire);
  return made < kMaxThreads ? made : kMaxThreads;
}

void ThreadPool::Recycle(ThreadState* thread) {
  EventRing* const ring = thread->ring.load(std::memory_order_acquire);
  if (ring != nullptr) {
    thread->ring.store(nullptr, std::memory_order_relaxed);
    ring_is_free_[ring - rings_].store(1, std::memory_order_release);
  }
  thread->use.store(ThreadState::kFree, std::memory_order_release);
}

}  // namespace pgle::recorder
