#include "capture/recorder/text_table.h"

#include <cstring>

#include "capture/recorder/memory.h"

namespace pgle::recorder {
namespace {

uint64_t HashOf(const char* text, uint32_t size) {
  uint64_t hash = 0x9e3779b97f4a7c15ULL ^ size;
  while (size >= 8) {
    uint64_t word;
    memcpy(&word, text, 8);
    hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
    text += 8;
    size -= 8;
  }
  uint64_t word = 0;
  memcpy(&word, text, size);
  hash = (hash ^ word) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 29);
}

TextKind KindOf(const char* text) {
  if (strncmp(text, "XlaModule:#", 11) == 0) return TextKind::kModule;
  if (strncmp(text, "XlaCompile", 10) == 0) return TextKind::kCompile;
  return TextKind::kOther;
}

}  // namespace

bool TextTable::Init() {
  arena_ = Reserve<char>(kArenaBytes);
  buckets_ = Reserve<std::atomic<const Text*>>(kBuckets);
  by_id_ = Reserve<std::atomic<const Text*>>(kMaxTexts);
  return arena_ != nullptr && buckets_ != nullptr && by_id_ != nullptr;
}

Text* TextTable::Store(const char* text, uint32_t size, uint64_t hash) {
  const size_t bytes = (sizeof(Text) + size + 1 + 15) & ~size_t{15};
  const size_t offset = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (offset + bytes > kArenaBytes) return nullptr;
  auto* const stored = reinterpret_cast<Text*>(arena_ + offset);
  stored->size = size;
  stored->kind = KindOf(text);
  stored->hash = hash;
  memcpy(arena_ + offset + sizeof(Text), text, size);
  return stored;
}

const Text* TextTable::Intern(const char* text) {
  if (text == nullptr) return nullptr;
  const auto size = static_cast<uint32_t>(strnlen(text, 1 << 16));
  const uint64_t hash = HashOf(text, size);
  std::atomic<const Text*>& bucket = buckets_[hash % kBuckets];
  Text* fresh = nullptr;
  const Text* head = bucket.load(std::memory_order_acquire);
  for (;;) {
    for (const Text* at = head; at != nullptr;
         at = at->next_in_bucket.load(std::memory_order_relaxed)) {
      // A copy of our own that lost the race stays in the arena, with an id that nothing uses.
      if (at->hash == hash && at->size == size && memcmp(at->data(), text, size) == 0) return at;
    }
    if (fresh == nullptr) {
      if (count_.load(std::memory_order_relaxed) >= kMaxTexts ||
          (fresh = Store(text, size, hash)) == nullptr) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
      }
      const uint32_t index = count_.fetch_add(1, std::memory_order_relaxed);
      if (index >= kMaxTexts) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
      }
      fresh->id = index + 1;
      by_id_[index].store(fresh, std::memory_order_release);
    }
    fresh->next_in_bucket.store(head, std::memory_order_relaxed);
    if (bucket.compare_exchange_weak(head, fresh, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      return fresh;
    }
  }
}

const Text* TextTable::At(uint32_t index) const {
  return index < kMaxTexts ? by_id_[index].load(std::memory_order_acquire) : nullptr;
}

}  // namespace pgle::recorder
