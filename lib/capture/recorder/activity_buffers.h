// The buffers that CUPTI fills with activity records: handed out and taken back in CUPTI's
// callbacks, read by the control thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pgle::recorder {

class ActivityBuffers {
 public:
  // `bytes` of one buffer, `limit` of all of them; `may_refuse`: CUPTI bears a request without
  // answer (12.9 and later).
  void Init(size_t bytes, size_t limit, bool may_refuse);
  // Makes buffers ahead and touches their pages, so that the program's threads need not.
  void Prepare(uint32_t count);

  // CUPTI's requests, from any thread. A buffer is all zero.
  void Request(uint8_t** buffer, size_t* size);
  void Complete(uint8_t* buffer, size_t valid_bytes);

  struct Filled {
    uint8_t* data;
    size_t valid_bytes;
    Filled* next;
  };
  // Of the control thread: all filled buffers, the oldest first; null when there are none.
  Filled* TakeFilled();
  // Gives one back. Its record must not be used afterwards.
  void Return(Filled* filled);

  // Requests that went unanswered or whose content was thrown away, over the limit.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kMaxBuffers = 4096;
  struct Head;  // stands in front of a buffer's data

  Head* TakeFree(bool over_limit);
  Head* Make(bool over_limit);

  size_t bytes_ = 0;
  uint32_t limit_ = 0;  // buffers
  bool may_refuse_ = false;
  std::atomic<uint32_t> made_;
  std::atomic<Head*> buffers_[kMaxBuffers];
  std::atomic<uint32_t> next_;  // where the search for a free one starts
  std::atomic<Filled*> filled_;
  std::atomic<uint64_t> dropped_;
};

}  // namespace pgle::recorder
