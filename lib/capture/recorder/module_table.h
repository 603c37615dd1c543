// The modules that the program executes, and how often each has run on each device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capture/recorder/control_page.h"
#include "capture/recorder/text_table.h"

namespace pgle::recorder {

// Executions are counted by device. Where the device of a thread is not known, its thread stands
// for it, since XLA dispatches each device's executions from a thread of its own.
inline constexpr uint32_t kDeviceLanes = 64;
inline constexpr uint32_t kLanes = 256;
inline constexpr uint32_t kRecentStarts = 32;

// Decided by count, windows start at execution 64, 128, 256 ... of the chosen module.
inline bool IsCandidate(uint64_t execution) {
  return execution >= 64 && (execution & (execution - 1)) == 0;
}

struct Module {
  std::atomic<const Text*> text;     // null until the entry is complete
  std::atomic<uint32_t> operations;  // distinct stacks of ranges inside it
  // Whether it has a program_id: the autotuner's trial modules have none.
  std::atomic<bool> is_program;
  std::atomic<uint32_t> reference_lane;                // the lane that ran it first, plus one
  std::atomic<uint64_t> recent_starts[kRecentStarts];  // on that lane, by number modulo
  // How many modules were known when execution 2^i began.
  std::atomic<uint32_t> modules_known[32];
  struct {
    std::atomic<uint32_t> begun, ended;
  } lanes[kLanes];

  uint32_t MaxBegun() const;
  // Executions times operations: which module is the training step, before any kernel is measured.
  // Both factors are equal on all ranks of a job.
  uint64_t Weight() const {
    return uint64_t{MaxBegun()} * operations.load(std::memory_order_relaxed);
  }
  // When execution `number` began on the reference lane; 0 if unknown or long ago.
  uint64_t StartOf(uint32_t number) const;
  // Median nanoseconds between the starts of the last `count` executions; 0 when there are fewer.
  uint64_t RecentInterval(uint32_t skip_last, uint32_t count) const;
};

class ModuleTable {
 public:
  bool Init();

  // The module of an XlaModule text; null when there are too many. Safe from all threads.
  Module* Find(const Text* text);
  uint32_t count() const;
  Module* At(uint32_t index) { return &modules_[index]; }
  uint32_t IndexOf(const Module* module) const { return static_cast<uint32_t>(module - modules_); }

  // When a module last ran for the first time, or XLA last compiled one.
  std::atomic<uint64_t> last_news;
  std::atomic<uint64_t> runs;  // of all modules

 private:
  Module* modules_ = nullptr;
  std::atomic<uint32_t> count_;
};

// Copies hlo_module's value from an XlaModule text, cut to fit.
void CopyModuleName(const Text& text, char* name, size_t size);

}  // namespace pgle::recorder
