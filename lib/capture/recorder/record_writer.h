// From CUPTI's activity records to the spill file's.
#pragma once

#include <cstdint>

#include "capture/recorder/activity_buffers.h"
#include "capture/recorder/correlation_set.h"
#include "capture/recorder/cupti.h"
#include "capture/recorder/spill_file.h"
#include "capture/recorder/spill_format.h"

namespace pgle::recorder {

// Kernels' names, by CUPTI's pointer and checked by content, since modules are unloaded and their
// names' places used again.
class KernelNames {
 public:
  bool Init();
  // The name's number, from 1 on; `is_fresh`: it has just got it. 0 when there are too many.
  uint32_t NumberOf(const char* name, bool* is_fresh);

 private:
  static constexpr uint32_t kSlots = 1 << 18;
  static constexpr uint32_t kMaxNames = kSlots / 2;
  struct Slot {
    const char* pointer;
    char* copy;
    uint32_t number;
  };

  Slot* slots_ = nullptr;
  char* arena_ = nullptr;
  size_t used_ = 0;
  uint32_t count_ = 0;
};

class RecordWriter {
 public:
  // Records take their launches out of `outstanding`.
  bool Init(const cupti::Api* api, SpillFile* file, CorrelationSet* outstanding);

  // Records with a correlation id above it are passed over: they were launched behind the window.
  void set_last_correlation(uint32_t id) {
    last_correlation_ = id;
    has_last_correlation_ = true;
  }

  // Reads a buffer and writes its records, the last of them with Flush(). Both return errno of the
  // file, or 0.
  int Write(const ActivityBuffers::Filled& filled);
  // Reads a buffer whose records are not wanted.
  void PassOver(const ActivityBuffers::Filled& filled);
  int Flush();

  uint64_t records() const { return records_; }
  uint64_t untimed() const { return untimed_; }
  // The greatest correlation id of any record that was seen.
  uint32_t greatest_correlation() const { return greatest_correlation_; }
  // Empty while records look as they should.
  const char* layout_fault() const { return layout_fault_; }

 private:
  // Records on their way into a chunk of their type.
  template <typename Record>
  struct Stage {
    static constexpr size_t kCapacity = (size_t{256} << 10) / sizeof(Record);
    Record* records;
    size_t count;
  };

  void NoteArrival(uint32_t correlation);
  bool Check(const cupti::Activity* record, const cupti::Activity* previous);
  int Take(const cupti::Activity* record);
  int TakeKernel(const cupti::KernelActivity& in);
  template <typename Record>
  int Append(Stage<Record>* stage, ChunkType type, const Record& record);
  template <typename Record>
  int Flush(Stage<Record>* stage, ChunkType type);

  const cupti::Api* api_ = nullptr;
  SpillFile* file_ = nullptr;
  CorrelationSet* outstanding_ = nullptr;
  KernelNames names_;
  Stage<KernelRecord> kernels_{};
  Stage<CopyRecord> copies_{};
  Stage<SetRecord> sets_{};
  bool has_last_correlation_ = false;
  uint32_t last_correlation_ = 0;
  uint32_t greatest_correlation_ = 0;
  uint64_t records_ = 0, untimed_ = 0;
  char layout_fault_[160] = {};
};

}  // namespace pgle::recorder
