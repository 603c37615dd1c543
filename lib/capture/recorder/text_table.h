// The texts of NVTX ranges: stored once, never moved or freed, found again without a lock. A
// pointer to a Text is what NVTX clients hold as the handle of a registered string.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pgle::recorder {

enum class TextKind : uint8_t { kOther, kModule, kCompile };

struct Text {
  uint32_t id;    // from 1 on, in the order of arrival
  uint32_t size;  // without the NUL that follows the text
  TextKind kind;
  // kModule: its number in ModuleTable plus one, from its first execution on.
  mutable std::atomic<uint32_t> module;
  std::atomic<const Text*> next_in_bucket;
  uint64_t hash;

  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
};

class TextTable {
 public:
  bool Init();

  // The stored copy of a text; null when the table is full (counted) or the text is null. Equal
  // texts give one copy, whichever thread comes first. Safe from all threads; never blocks.
  const Text* Intern(const char* text);

  // The texts in order of their ids, as far as they are complete. `index` from 0 on; null beyond.
  const Text* At(uint32_t index) const;
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kArenaBytes = size_t{256} << 20;
  static constexpr uint32_t kMaxTexts = 1 << 20;
  static constexpr uint32_t kBuckets = 1 << 18;

  Text* Store(const char* text, uint32_t size, uint64_t hash);

  char* arena_ = nullptr;
  std::atomic<size_t> used_;
  std::atomic<const Text*>* buckets_ = nullptr;
  std::atomic<const Text*>* by_id_ = nullptr;
  std::atomic<uint32_t> count_;
  std::atomic<uint64_t> lost_;
};

}  // namespace pgle::recorder
