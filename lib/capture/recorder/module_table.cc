#include "capture/recorder/module_table.h"

#include <sched.h>

#include <cstring>

#include "capture/recorder/memory.h"

namespace pgle::recorder {
namespace {

// States of Text::module beside the numbers.
constexpr uint32_t kBeingMade = UINT32_MAX, kTooMany = UINT32_MAX - 1;

}  // namespace

uint32_t Module::MaxBegun() const {
  uint32_t max = 0;
  for (const auto& lane : lanes) {
    const uint32_t begun = lane.begun.load(std::memory_order_relaxed);
    if (begun > max) max = begun;
  }
  return max;
}

uint64_t Module::StartOf(uint32_t number) const {
  const uint32_t lane = reference_lane.load(std::memory_order_relaxed);
  if (lane == 0) return 0;
  const uint32_t begun = lanes[lane - 1].begun.load(std::memory_order_acquire);
  if (number >= begun || begun - number >= kRecentStarts) return 0;
  return recent_starts[number % kRecentStarts].load(std::memory_order_relaxed);
}

uint64_t Module::RecentInterval(uint32_t skip_last, uint32_t count) const {
  const uint32_t lane = reference_lane.load(std::memory_order_relaxed);
  if (lane == 0) return 0;
  const uint32_t begun = lanes[lane - 1].begun.load(std::memory_order_acquire);
  if (begun < skip_last + count + 1 || count > kRecentStarts - 1) return 0;
  uint64_t intervals[kRecentStarts];
  uint64_t end = StartOf(begun - 1 - skip_last);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start = StartOf(begun - 2 - skip_last - i);
    if (start == 0 || end < start) return 0;
    uint64_t interval = end - start;
    // Insertion into order: there are few.
    uint32_t at = i;
    for (; at > 0 && intervals[at - 1] > interval; --at) intervals[at] = intervals[at - 1];
    intervals[at] = interval;
    end = start;
  }
  return intervals[(count - 1) / 2];
}

bool ModuleTable::Init() {
  modules_ = Reserve<Module>(kMaxModules);
  return modules_ != nullptr;
}

Module* ModuleTable::Find(const Text* text) {
  uint32_t number = text->module.load(std::memory_order_acquire);
  if (number == 0 &&
      text->module.compare_exchange_strong(number, kBeingMade, std::memory_order_acq_rel,
                                           std::memory_order_acquire)) {
    const uint32_t index = count_.load(std::memory_order_relaxed) < kMaxModules
                               ? count_.fetch_add(1, std::memory_order_acq_rel)
                               : kMaxModules;
    number = index < kMaxModules ? index + 1 : kTooMany;
    if (number != kTooMany) {
      modules_[index].is_program.store(strstr(text->data(), "program_id=") != nullptr,
                                       std::memory_order_relaxed);
      modules_[index].text.store(text, std::memory_order_release);
    }
    text->module.store(number, std::memory_order_release);
  }
  // A handful of instructions of another thread, once in the life of a module.
  while (number == kBeingMade) {
    sched_yield();
    number = text->module.load(std::memory_order_acquire);
  }
  return number == kTooMany ? nullptr : &modules_[number - 1];
}

uint32_t ModuleTable::count() const {
  const uint32_t count = count_.load(std::memory_order_relaxed);
  return count < kMaxModules ? count : kMaxModules;
}

void CopyModuleName(const Text& text, char* name, size_t size) {
  const char* const key = strstr(text.data(), "hlo_module=");
  const char* const start = key == nullptr ? text.data() : key + strlen("hlo_module=");
  size_t length = key == nullptr ? strlen(start) : strcspn(start, ",#");
  if (length >= size) length = size - 1;
  memcpy(name, start, length);
  name[length] = '\0';
}

}  // namespace pgle::recorder
