// A spill file in memory: its chunks checked, its tables joined, its records left where they lie.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "capture/recorder/spill_format.h"
#include "io/input.h"

namespace pgle {

// A table of texts by id; ids that no chunk held are empty.
class TextTable {
 public:
  std::string_view operator[](uint32_t id) const {
    return id < texts_.size() ? texts_[id] : std::string_view();
  }
  size_t size() const { return texts_.size(); }
  void Set(uint32_t id, std::string_view text);

 private:
  std::vector<std::string_view> texts_;
};

struct ThreadEvents {
  uint32_t thread = 0;  // index of a thread in this file: each has its own, unlike thread numbers
  std::span<const recorder::Event> events;
};

struct SpillWindowChange {
  recorder::WindowChange change;
  std::string reason;
};

// Valid as long as the Input that it was read from.
struct Recording {
  recorder::ProcessInfo process;
  std::vector<std::pair<std::string, std::string>> facts;  // kText, in order
  std::vector<recorder::DeviceInfo> devices;               // by ordinal
  TextTable strings, kernel_names;
  std::vector<recorder::RangeEntry> ranges;  // by id; id 0 is the empty stack
  std::vector<uint32_t> tids;                // by thread
  std::vector<ThreadEvents> events;          // of each thread in order
  std::vector<std::span<const recorder::KernelRecord>> kernels;
  std::vector<std::span<const recorder::CopyRecord>> copies;
  std::vector<std::span<const recorder::SetRecord>> sets;
  std::vector<recorder::ClockPair> clocks;
  recorder::Counters counters;
  std::vector<SpillWindowChange> window;
  uint64_t end_time = 0;  // 0: no end mark
  bool has_end = false;
  uint64_t damaged_chunks = 0;
  bool is_cut = false;  // the last chunk is incomplete: the process was killed while it wrote

  std::string Fact(std::string_view key) const;

  // Payloads that lie at odd places in the file, copied to where their records can be read.
  std::deque<std::vector<uint64_t>> realigned;
};

// Damage in the middle is passed over to the next whole chunk and warned of; an incomplete chunk at
// the end is normal for a killed process, and noted.
// Errors: not a spill file, or one of another version.
Result<Recording> ReadSpill(const Input& input, Diagnostics* diagnostics);

}  // namespace pgle
