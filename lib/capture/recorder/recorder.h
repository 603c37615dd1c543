// The recorder's state, one for the process: tables that callbacks write, and the control thread
// that reads them, owns all calls into CUPTI after start-up, decides on the window and writes the
// spill file.
#pragma once

#include <atomic>
#include <cstdint>

#include "capture/recorder/activity_buffers.h"
#include "capture/recorder/control_page.h"
#include "capture/recorder/cupti.h"
#include "capture/recorder/module_table.h"
#include "capture/recorder/range_table.h"
#include "capture/recorder/shared_page.h"
#include "capture/recorder/text_table.h"
#include "capture/recorder/thread_state.h"

namespace pgle::recorder {

struct Recorder {
  TextTable texts;
  RangeTable ranges;
  ModuleTable modules;
  ThreadPool threads;
  ActivityBuffers buffers;
  cupti::Api cupti;
  cupti::Subscriber subscriber = nullptr;

  SharedPage* shared_page = nullptr;
  ControlPage* page = nullptr;
  ProcessSlot* slot = nullptr;
  int pid = 0;

  // An execution of this number that is about to begin waits until the control thread has decided
  // whether to turn activity on: for windows that come too early or too fast to arm ahead.
  static constexpr uint64_t kNoGate = UINT64_MAX;
  static constexpr uint64_t kGateAtCandidates = UINT64_MAX - 1;  // see IsCandidate()
  std::atomic<uint64_t> gate = kNoGate;
  std::atomic<uint64_t> decisions;  // how often that was considered

  // Executions of modules are counted, but no longer written.
  std::atomic<bool> is_quiet;

  // cudaProfilerStart and cudaProfilerStop calls seen.
  std::atomic<uint32_t> profiler_starts, profiler_stops;
};

// Tells the launcher of a fault; the text is there before it.
void SetFault(ProcessSlot* slot, Fault fault, int code, const char* text);

// Null until there are tables, for ever where there is no control page, and in a forked child.
Recorder* TheRecorder();

// Starts the recorder once for the process; later calls do nothing. `with_cuda`: the driver is
// loading us. A window needs CUPTI, which is subscribed to then; the times of modules alone need no
// driver.
void StartRecorder(bool with_cuda);

}  // namespace pgle::recorder
