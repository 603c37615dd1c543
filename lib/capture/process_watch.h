// The processes that loaded the recorder: watched while they run, and summed up at the end.
#pragma once

#include <string>
#include <vector>

#include "capture/capture.h"
#include "capture/capture_plan.h"
#include "capture/spill_queue.h"

namespace pgle {

class ProcessWatch {
 public:
  // Both must outlive this object.
  ProcessWatch(CapturePlan* plan, const CaptureOptions& options);

  // Answers modules' names, and begins to convert what is complete. Returns what is to be said.
  Diagnostics Tick();
  // Some process is between the window's first step and its last record.
  bool is_recording() const;
  // After the command's end: converts the rest. `kept`: some spill file could not be converted, or
  // is still being written.
  std::vector<ProcessReport> Finish(Diagnostics* diagnostics, bool* kept);

 private:
  struct Watched {
    ProcessReport report;
    std::string spill;
    bool is_queued = false;        // its trace is converted, or about to be
    uint64_t converted_bytes = 0;  // of the spill, when it was queued
  };

  void LookAtPage();
  void ReadSlot(uint32_t index);
  void Queue(size_t index);
  void Keep(SpillQueue::Done done);
  void SumUp(Watched* process);
  void AddStrays();
  ConvertOptions OptionsFor(const Watched& process, bool with_output) const;

  CapturePlan& plan_;
  const CaptureOptions& options_;
  std::vector<Watched> processes_;
  bool is_page_lost_ = false;
  Diagnostics diagnostics_;  // of conversions
  SpillQueue queue_;
};

}  // namespace pgle
