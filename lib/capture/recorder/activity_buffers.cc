#include "capture/recorder/activity_buffers.h"

#include <cstring>

#include "capture/recorder/memory.h"

namespace pgle::recorder {

struct ActivityBuffers::Head {
  std::atomic<uint32_t> in_use;
  bool is_over_limit;  // its content is thrown away: CUPTI had to be given something
  Filled filled;
};

namespace {

// CUPTI wants buffers aligned to 8 bytes; the head takes a cache line or two.
constexpr size_t kHeadBytes = 128;

}  // namespace

void ActivityBuffers::Init(size_t bytes, size_t limit, bool may_refuse) {
  static_assert(sizeof(Head) <= kHeadBytes);
  bytes_ = bytes;
  const size_t buffers = limit / bytes;
  limit_ = static_cast<uint32_t>(buffers < 2                 ? 2
                                 : buffers > kMaxBuffers / 2 ? kMaxBuffers / 2
                                                             : buffers);
  may_refuse_ = may_refuse;
}

ActivityBuffers::Head* ActivityBuffers::TakeFree(bool over_limit) {
  const uint32_t made = made_.load(std::memory_order_acquire);
  const uint32_t count = made < kMaxBuffers ? made : kMaxBuffers;
  const uint32_t first = next_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t at = (first + i) % count;
    Head* const head = buffers_[at].load(std::memory_order_acquire);
    if (head == nullptr || head->is_over_limit != over_limit) continue;
    if (head->in_use.load(std::memory_order_relaxed) != 0) continue;
    if (head->in_use.exchange(1, std::memory_order_acquire) == 0) {
      next_.store(at + 1, std::memory_order_relaxed);
      return head;
    }
  }
  return nullptr;
}

ActivityBuffers::Head* ActivityBuffers::Make(bool over_limit) {
  const uint32_t limit = over_limit ? kMaxBuffers : limit_;
  uint32_t index = made_.load(std::memory_order_relaxed);
  do {
    if (index >= limit) return nullptr;
  } while (!made_.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
  char* const space = Reserve<char>(kHeadBytes + bytes_);
  if (space == nullptr) return nullptr;
  Head* const head = reinterpret_cast<Head*>(space);
  head->in_use.store(1, std::memory_order_relaxed);
  head->is_over_limit = over_limit;
  head->filled.data = reinterpret_cast<uint8_t*>(space + kHeadBytes);
  buffers_[index].store(head, std::memory_order_release);
  return head;
}

void ActivityBuffers::Prepare(uint32_t count) {
  while (made_.load(std::memory_order_relaxed) < count) {
    Head* const head = Make(/*over_limit=*/false);
    if (head == nullptr) return;
    for (size_t at = 0; at < bytes_; at += 4096) {
      const_cast<volatile uint8_t&>(head->filled.data[at]) = 0;
    }
    head->in_use.store(0, std::memory_order_release);
  }
}

void ActivityBuffers::Request(uint8_t** buffer, size_t* size) {
  Head* head = TakeFree(/*over_limit=*/false);
  if (head == nullptr) head = Make(/*over_limit=*/false);
  if (head == nullptr) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    if (!may_refuse_) {
      head = TakeFree(/*over_limit=*/true);
      if (head == nullptr) head = Make(/*over_limit=*/true);
    }
  }
  *buffer = head == nullptr ? nullptr : head->filled.data;
  *size = head == nullptr ? 0 : bytes_;
}

void ActivityBuffers::Complete(uint8_t* buffer, size_t valid_bytes) {
  if (buffer == nullptr) return;
  Head* const head = reinterpret_cast<Head*>(buffer - kHeadBytes);
  if (valid_bytes == 0 || head->is_over_limit) {
    memset(buffer, 0, valid_bytes);
    head->in_use.store(0, std::memory_order_release);
    return;
  }
  Filled* const filled = &head->filled;
  filled->valid_bytes = valid_bytes < bytes_ ? valid_bytes : bytes_;
  filled->next = filled_.load(std::memory_order_relaxed);
  while (!filled_.compare_exchange_weak(filled->next, filled, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

ActivityBuffers::Filled* ActivityBuffers::TakeFilled() {
  Filled* newest_first = filled_.exchange(nullptr, std::memory_order_acquire);
  Filled* oldest_first = nullptr;
  while (newest_first != nullptr) {
    Filled* const next = newest_first->next;
    newest_first->next = oldest_first;
    oldest_first = newest_first;
    newest_first = next;
  }
  return oldest_first;
}

void ActivityBuffers::Return(Filled* filled) {
  memset(filled->data, 0, filled->valid_bytes);
  Head* const head = reinterpret_cast<Head*>(filled->data - kHeadBytes);
  head->in_use.store(0, std::memory_order_release);
}

}  // namespace pgle::recorder
