// The recorder's own thread: reads what the callbacks leave, decides on the window, turns activity
// on and off, and writes the spill file.
#pragma once

#include <cstdint>

#include "capture/recorder/correlation_set.h"
#include "capture/recorder/record_writer.h"
#include "capture/recorder/spill_file.h"
#include "capture/recorder/window.h"

namespace pgle::recorder {

struct Recorder;

class ControlThread {
 public:
  // Starts the thread. Returns errno, or 0.
  int Start(Recorder* recorder);
  // Ends the recording and waits for it, at most five seconds. For the process's exit.
  void Finish();

 private:
  static void* Main(void* self);
  void Run();
  // Sleeps; true once the end was asked for.
  bool Sleep(uint64_t nanoseconds);

  void Step();
  void Arm();
  void Close();
  void AwaitRecords();
  void TurnOff();
  void End();

  void PublishModules();
  // Events, and the tables that they refer to.
  void DrainEvents();
  void DrainTables();
  // Full buffers: their records are written, or thrown away.
  void DrainRecords(bool write);
  // Armed ahead of the first step: the newest buffers are kept, since they may hold its records,
  // when it is seen to have begun. So little is written however long the step is in coming.
  void HoldRecords();
  void GatherRecords();
  void FlushActivity(uint32_t flags);
  bool EnsureFile();
  void WriteProcess();
  void WriteCounters();
  void WriteWindow(WindowState state, uint64_t time);

  void Fail(Fault fault, int code, const char* text);
  void LookAtPage();
  void Check(int error);  // of the file
  void SetState(ProcessState state);
  bool Is(ProcessState state) const { return state_ == state; }

  Recorder* recorder_ = nullptr;
  SpillFile file_;
  RecordWriter writer_;
  CorrelationSet outstanding_;
  Window window_;
  ProcessState state_ = ProcessState::kReady;
  bool has_failed_ = false;
  bool is_page_lost_ = false;
  ActivityBuffers::Filled* held_ = nullptr;  // the oldest first
  uint32_t held_count_ = 0;
  uint64_t written_behind_window_ = 0;  // events
  bool is_recording_ = false;           // activity is on
  bool is_undecided_ = false;  // it is, but the module it was turned on for has stopped running
  uint64_t started_ = 0;
  uint64_t drained_ = 0, flushed_ = 0;
  uint32_t texts_written_ = 0, ranges_written_ = 0, modules_published_ = 0;
  uint64_t dropped_records_ = 0, write_errors_ = 0;
  uint32_t last_launch_ = 0;
  bool has_launch_ = false;
  Event* events_ = nullptr;
  char name_[64] = {};
};

}  // namespace pgle::recorder
