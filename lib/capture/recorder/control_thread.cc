#include "capture/recorder/control_thread.h"

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "capture/recorder/clock.h"
#include "capture/recorder/driver.h"
#include "capture/recorder/memory.h"
#include "capture/recorder/nvtx.h"
#include "capture/recorder/process_facts.h"
#include "capture/recorder/recorder.h"
#include "capture/recorder/subscriber.h"

namespace pgle::recorder {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kPoll = 20 * kMillisecond;
constexpr uint64_t kQuietPoll = 200 * kMillisecond;  // behind the window
constexpr uint64_t kDrainPeriod = 100 * kMillisecond;
constexpr uint64_t kFlushPeriod = 500 * kMillisecond;
constexpr uint64_t kExitPatience = 5'000 * kMillisecond;
// Behind the window: how long no record may come before it is taken that none will.
constexpr uint64_t kSilence = 150 * kMillisecond;
constexpr uint64_t kLongSilence = 10'000 * kMillisecond;
constexpr uint64_t kPatience = 120'000 * kMillisecond;
constexpr uint32_t kEventsAtOnce = 1 << 14;
constexpr uint32_t kPreparedBuffers = 8;
constexpr uint32_t kMaxDevices = 64;
constexpr uint64_t kEventsBehindWindow = 200'000;

constexpr cupti::ActivityKind kKinds[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemset,
                                          cupti::kMemcpyPeer};

// CUPTI may be inside RequestBuffer or CompleteBuffer on any thread.
void OnRequest(uint8_t** buffer, size_t* size, size_t* max_records) {
  *max_records = 0;
  Recorder* const recorder = TheRecorder();
  if (recorder == nullptr) {
    *buffer = nullptr;
    *size = 0;
    return;
  }
  recorder->buffers.Request(buffer, size);
}

void OnComplete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid_size) {
  if (Recorder* const recorder = TheRecorder(); recorder != nullptr) {
    recorder->buffers.Complete(buffer, valid_size);
  }
}

// The thread and who waits for it. Not members: mutexes need no constructor this way.
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
bool end_is_wanted = false, has_ended = false;

// Waits for `condition`; the mutex is held. False when the time is over. By the clock that nobody
// sets: the program's exit waits here.
bool WaitFor(const bool* condition, uint64_t nanoseconds) {
  const uint64_t until = MonotonicNow() + nanoseconds;
  const timespec time = {static_cast<time_t>(until / 1'000'000'000),
                         static_cast<long>(until % 1'000'000'000)};
  while (!*condition) {
    if (pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &time) == ETIMEDOUT) {
      return *condition;
    }
  }
  return true;
}

}  // namespace

int ControlThread::Start(Recorder* recorder) {
  recorder_ = recorder;
  started_ = RealtimeNow();
  events_ = Reserve<Event>(kEventsAtOnce);
  if (events_ == nullptr || !outstanding_.Init() ||
      !writer_.Init(&recorder->cupti, &file_, &outstanding_)) {
    return ENOMEM;
  }
  window_.Init(recorder, started_);
  SetState(ProcessState::kReady);
  // The program's signal handlers must not run on this thread.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, Main, this);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error != 0) return error;
  pthread_setname_np(thread, "pgle-capture");
  pthread_detach(thread);
  return 0;
}

void* ControlThread::Main(void* self) {
  static_cast<ControlThread*>(self)->Run();
  pthread_mutex_lock(&mutex);
  has_ended = true;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return nullptr;
}

void ControlThread::Finish() {
  pthread_mutex_lock(&mutex);
  end_is_wanted = true;
  pthread_cond_broadcast(&changed);
  WaitFor(&has_ended, kExitPatience);
  pthread_mutex_unlock(&mutex);
}

bool ControlThread::Sleep(uint64_t nanoseconds) {
  pthread_mutex_lock(&mutex);
  const bool is_wanted = WaitFor(&end_is_wanted, nanoseconds);
  pthread_mutex_unlock(&mutex);
  return is_wanted;
}

void ControlThread::SetState(ProcessState state) {
  state_ = state;
  recorder_->slot->state.store(state, std::memory_order_release);
}

void ControlThread::Fail(Fault fault, int code, const char* text) {
  if (has_failed_) return;
  has_failed_ = true;
  SetFault(recorder_->slot, fault, code, text);
  TurnOff();
  SetState(ProcessState::kFailed);
}

// The recording goes on without a launcher that could follow it.
void ControlThread::LookAtPage() {
  if (is_page_lost_ || recorder_->shared_page->IsThere()) return;
  is_page_lost_ = true;
  modules_published_ = 0;
  recorder_->slot->pid.store(static_cast<uint32_t>(recorder_->pid), std::memory_order_relaxed);
  SetState(state_);
}

void ControlThread::Check(int error) {
  if (error == 0) return;
  ++write_errors_;
  char text[256];
  snprintf(text, sizeof(text), "%s: %s", name_, strerror(error));
  Fail(Fault::kSpill, error, text);
}

bool ControlThread::EnsureFile() {
  if (file_.is_open()) return true;
  if (write_errors_ != 0) return false;
  snprintf(name_, sizeof(name_), "p%d.pgle", recorder_->pid);
  char path[sizeof(recorder_->page->directory) + sizeof(name_) + 1];
  snprintf(path, sizeof(path), "%s/%s", recorder_->page->directory, name_);
  const int error = file_.Create(path);
  if (error != 0) {
    Check(error);
    return false;
  }
  WriteProcess();
  snprintf(recorder_->slot->spill, sizeof(recorder_->slot->spill), "%s", name_);
  return file_.is_open();
}

void ControlThread::WriteProcess() {
  ProcessInfo info;
  info.pid = static_cast<uint32_t>(recorder_->pid);
  info.start_ns = started_;
  info.cupti_version = recorder_->cupti.version;
  info.driver_version = DriverVersion();
  Check(file_.WriteChunk(ChunkType::kProcess, &info, sizeof(info)));
  if (!file_.is_open()) return;
  file_.Begin(ChunkType::kText);
  AppendProcessFacts(recorder_->cupti.path, &file_);
  Check(file_.Write());
}

void ControlThread::WriteCounters() {
  if (!file_.is_open()) return;
  Counters counters;
  counters.records = writer_.records();
  counters.dropped_records = dropped_records_;
  counters.dropped_buffers = recorder_->buffers.dropped();
  counters.untimed_records = writer_.untimed();
  counters.lost_events = recorder_->threads.lost();
  counters.lost_strings = recorder_->texts.lost() + recorder_->ranges.lost();
  counters.write_errors = write_errors_;
  counters.module_runs = recorder_->modules.runs.load(std::memory_order_relaxed);
  Check(file_.WriteChunk(ChunkType::kCounters, &counters, sizeof(counters)));
  const ClockPair clock = {RealtimeNow(), MonotonicNow()};
  if (file_.is_open()) Check(file_.WriteChunk(ChunkType::kClock, &clock, sizeof(clock)));
}

void ControlThread::WriteWindow(WindowState state, uint64_t time) {
  if (!EnsureFile()) return;
  const WindowChange change = window_.Change(state, time);
  file_.Begin(ChunkType::kWindow);
  file_.Append(&change, sizeof(change));
  file_.Append(window_.reason(), strlen(window_.reason()) + 1);
  Check(file_.Write());
}

void ControlThread::PublishModules() {
  ProcessSlot* const slot = recorder_->slot;
  slot->module_runs.store(recorder_->modules.runs.load(std::memory_order_relaxed),
                          std::memory_order_relaxed);
  slot->nvtx_clients.store(NvtxClients(), std::memory_order_relaxed);
  slot->records.store(writer_.records(), std::memory_order_relaxed);
  const uint32_t count = recorder_->modules.count();
  for (; modules_published_ < count; ++modules_published_) {
    const Text* const text =
        recorder_->modules.At(modules_published_)->text.load(std::memory_order_acquire);
    // An entry that is not complete yet holds up the ones behind it, for a moment.
    if (text == nullptr) break;
    ModuleName& name = slot->modules[modules_published_];
    CopyModuleName(*text, name.text, sizeof(name.text));
  }
  slot->module_count.store(modules_published_, std::memory_order_release);
}

void ControlThread::DrainTables() {
  file_.Begin(ChunkType::kStrings);
  bool has_any = false;
  while (const Text* const text = recorder_->texts.At(texts_written_)) {
    const StringEntry entry{text->id, text->size};
    if (!file_.Fits(sizeof(entry) + text->size + 4)) {
      Check(file_.Write());
      if (!file_.is_open()) return;
      file_.Begin(ChunkType::kStrings);
    }
    file_.Append(&entry, sizeof(entry));
    file_.Append(text->data(), text->size);
    file_.Pad(4);
    ++texts_written_;
    has_any = true;
  }
  if (has_any) Check(file_.Write());
  if (!file_.is_open()) return;
  file_.Begin(ChunkType::kRanges);
  has_any = false;
  RangeEntry range;
  while (recorder_->ranges.At(ranges_written_, &range)) {
    if (!file_.Fits(sizeof(range))) {
      Check(file_.Write());
      if (!file_.is_open()) return;
      file_.Begin(ChunkType::kRanges);
    }
    file_.Append(&range, sizeof(range));
    ++ranges_written_;
    has_any = true;
  }
  if (has_any) Check(file_.Write());
}

void ControlThread::DrainEvents() {
  drained_ = MonotonicNow();
  const uint32_t count = recorder_->threads.count();
  for (uint32_t i = 0; i < count; ++i) {
    ThreadState* const thread = recorder_->threads.At(i);
    // Read before the ring: what an ended thread has written is there then.
    const uint32_t use = thread->use.load(std::memory_order_acquire);
    if (use == ThreadState::kFree) continue;
    EventRing* const ring = thread->ring.load(std::memory_order_acquire);
    while (ring != nullptr && !ring->is_empty() && EnsureFile()) {
      const uint32_t popped = ring->Pop(events_, kEventsAtOnce);
      for (uint32_t at = 0; at < popped; ++at) {
        if (events_[at].kind != EventKind::kLaunch || !is_recording_) continue;
        const uint32_t id = events_[at].launch.correlation;
        outstanding_.Add(id);
        if (!has_launch_ || IsLater(id, last_launch_)) last_launch_ = id;
        has_launch_ = true;
      }
      const EventsHeader header{thread->number, thread->tid, ring->lost()};
      file_.Begin(ChunkType::kEvents);
      file_.Append(&header, sizeof(header));
      file_.Append(events_, popped * sizeof(Event));
      Check(file_.Write());
      if (Is(ProcessState::kClosed)) written_behind_window_ += popped;
    }
    if (use == ThreadState::kEnded) recorder_->threads.Recycle(thread);
  }
  if (file_.is_open()) DrainTables();
  // Enough to tell how fast steps are without activity; a run of weeks is not followed to its end.
  if (written_behind_window_ >= kEventsBehindWindow) {
    recorder_->is_quiet.store(true, std::memory_order_relaxed);
  }
}

void ControlThread::GatherRecords() {
  ActivityBuffers::Filled** end = &held_;
  while (*end != nullptr) end = &(*end)->next;
  *end = recorder_->buffers.TakeFilled();
  for (; *end != nullptr; end = &(*end)->next) ++held_count_;
}

void ControlThread::HoldRecords() {
  GatherRecords();
  const WindowSettings& settings = recorder_->page->window;
  while (held_count_ > settings.memory_bytes / settings.buffer_bytes / 4) {
    ActivityBuffers::Filled* const oldest = held_;
    held_ = oldest->next;
    --held_count_;
    writer_.PassOver(*oldest);
    recorder_->buffers.Return(oldest);
  }
}

void ControlThread::DrainRecords(bool write) {
  GatherRecords();
  // Events that were there before these records are read before them.
  if (write && held_ != nullptr) DrainEvents();
  while (held_ != nullptr) {
    ActivityBuffers::Filled* const filled = held_;
    held_ = filled->next;
    if (write && !has_failed_ && EnsureFile()) {
      Check(writer_.Write(*filled));
      if (*writer_.layout_fault() != '\0') {
        Fail(Fault::kLayout, static_cast<int>(recorder_->cupti.version), writer_.layout_fault());
      }
    }
    recorder_->buffers.Return(filled);
  }
  held_count_ = 0;
  if (write && file_.is_open()) Check(writer_.Flush());
}

void ControlThread::FlushActivity(uint32_t flags) {
  flushed_ = MonotonicNow();
  recorder_->cupti.flush_all(flags);
  size_t dropped = 0;
  if (recorder_->cupti.dropped_records(nullptr, 0, &dropped) == cupti::kSuccess) {
    dropped_records_ += dropped;
  }
}

void ControlThread::Arm() {
  const cupti::Api& api = recorder_->cupti;
  const WindowSettings& settings = recorder_->page->window;
  recorder_->buffers.Init(settings.buffer_bytes, settings.memory_bytes,
                          api.version >= cupti::kVersion12_9);
  recorder_->buffers.Prepare(kPreparedBuffers);
  if (!EnsureFile()) return;
  const char* call = "cuptiActivityRegisterCallbacks";
  // The buffers that are handed out are zero already; a CUPTI that does not know of this zeroes
  // them.
  uint8_t zeroed = 1;
  size_t size = sizeof(zeroed);
  if (api.set_attribute != nullptr) api.set_attribute(cupti::kZeroedBuffers, &size, &zeroed);
  cupti::Result result = api.register_callbacks(OnRequest, OnComplete);
  for (const cupti::ActivityKind kind : kKinds) {
    if (result != cupti::kSuccess) break;
    call = "cuptiActivityEnable";
    result = api.enable(kind);
    is_recording_ = true;
  }
  if (result == cupti::kSuccess) {
    call = "cuptiEnableCallback";
    result = EnableLaunches(recorder_, true);
  }
  if (result != cupti::kSuccess) {
    char text[256];
    snprintf(text, sizeof(text), "%s: %s", call, cupti::NameOf(api, result));
    Fail(result == cupti::kInsufficientPrivileges ? Fault::kPrivileges : Fault::kCuptiCall, result,
         text);
    return;
  }
  DeviceInfo* const devices = Reserve<DeviceInfo>(kMaxDevices);
  if (devices != nullptr) {
    const uint32_t count = DescribeDevices(devices, kMaxDevices);
    Check(file_.WriteChunk(ChunkType::kDevices, devices, count * sizeof(DeviceInfo)));
  }
  if (has_failed_) return;
  SetState(ProcessState::kArmed);
  const uint64_t now = RealtimeNow();
  window_.OnArmed(now);
  WriteWindow(WindowState::kArmed, now);
}

void ControlThread::TurnOff() {
  if (!is_recording_) return;
  is_recording_ = false;
  EnableLaunches(recorder_, false);
  // Before 13.0 update 1 cuptiActivityDisable() may deadlock with the program's threads: the kinds
  // stay on then, and what they give is thrown away.
  if (recorder_->cupti.version < cupti::kVersion13_0u1) return;
  for (const cupti::ActivityKind kind : kKinds) recorder_->cupti.disable(kind);
}

// The device is behind the host by up to dozens of steps: the window's last kernels are still to
// run.
void ControlThread::AwaitRecords() {
  if (!has_launch_) return;
  writer_.set_last_correlation(last_launch_);
  const uint64_t begin = MonotonicNow();
  uint64_t last_record = begin;
  uint64_t records = writer_.records();
  const uint64_t steps = 2 * window_.interval();
  const uint64_t silence = steps < kSilence       ? kSilence
                           : steps < kLongSilence ? steps
                                                  : kLongSilence;
  while (!has_failed_) {
    LookAtPage();
    FlushActivity(0);
    DrainRecords(/*write=*/true);
    const uint64_t now = MonotonicNow();
    if (writer_.records() != records) {
      records = writer_.records();
      last_record = now;
    }
    const uint64_t quiet = now - last_record;
    if (outstanding_.count() == 0 && quiet >= silence) return;
    // Some launches leave no record, an empty graph's or a refused one's.
    const uint32_t greatest = writer_.greatest_correlation();
    const bool has_last = greatest == last_launch_ || IsLater(greatest, last_launch_);
    if (has_last && quiet >= 4 * silence) return;
    if (quiet >= kLongSilence || now - begin >= kPatience) {
      char text[sizeof(recorder_->slot->text)];
      snprintf(text, sizeof(text), "the records of %llu launches did not come within %llu s",
               static_cast<unsigned long long>(outstanding_.count()),
               static_cast<unsigned long long>((now - begin) / 1'000'000'000));
      SetFault(recorder_->slot, Fault::kFlushTimeout, 0, text);
      return;
    }
    if (Sleep(kPoll)) return;  // the process is ending: the final flush follows
  }
}

void ControlThread::Close() {
  const uint64_t now = RealtimeNow();  // what is launched from here on may not be seen
  EnableLaunches(recorder_, false);
  SetState(ProcessState::kClosing);
  DrainEvents();
  WriteWindow(WindowState::kClosing, now);
  AwaitRecords();
  TurnOff();
  FlushActivity(cupti::kFlushForced);
  DrainRecords(/*write=*/true);
  DrainEvents();
  WriteCounters();
  WriteWindow(WindowState::kClosed, RealtimeNow());
  PublishModules();
  if (!has_failed_) SetState(ProcessState::kClosed);
}

void ControlThread::Step() {
  const uint64_t now = RealtimeNow();
  const bool is_cut_short =
      recorder_->page->command.load(std::memory_order_acquire) == Command::kClose;
  if (Is(ProcessState::kReady)) {
    if (!is_cut_short && window_.ShouldArm(now) && DriverIsReady()) Arm();
    recorder_->decisions.fetch_add(1, std::memory_order_release);
  }
  // Activity stays on: turning it off and on again is what CUPTI bears worst.
  if (Is(ProcessState::kArmed) && window_.ReconsidersChoice(now)) is_undecided_ = true;
  if (is_undecided_ && window_.ShouldArm(now)) {
    is_undecided_ = false;
    window_.OnArmed(now);
    WriteWindow(WindowState::kArmed, now);
  }
  if (Is(ProcessState::kArmed) && (is_cut_short || window_.is_given_up())) {
    Fail(Fault::kWindowMissed, 0,
         window_.is_given_up() ? window_.reason() : "stopped before the window's first step");
  }
  if (Is(ProcessState::kArmed) && !is_undecided_ && window_.HasOpened(now)) {
    SetState(ProcessState::kOpen);
    WriteWindow(WindowState::kOpen, RealtimeNow());
  }
  if (!Is(ProcessState::kOpen)) return;
  const bool has_ended = window_.HasEnded(now);
  if (!has_ended && !is_cut_short) return;
  if (!has_ended && recorder_->page->window.mode != WindowMode::kCommand) {
    window_.CutShort("stopped before the window's last step");
  }
  Close();
}

void ControlThread::End() {
  LookAtPage();
  PublishModules();
  if (Is(ProcessState::kArmed) && !is_undecided_ && window_.HasOpened(RealtimeNow()))
    SetState(ProcessState::kOpen);
  if (Is(ProcessState::kOpen)) {
    if (!window_.HasEnded(RealtimeNow())) window_.CutShort("the program ended inside the window");
    Close();
  } else if (is_recording_) {
    TurnOff();
  }
  DrainEvents();
  if (file_.is_open()) {
    WriteCounters();
    const EndMark end = {RealtimeNow(), 0};
    if (file_.is_open()) Check(file_.WriteChunk(ChunkType::kEnd, &end, sizeof(end)));
  }
  if (write_errors_ == 0) recorder_->slot->has_ended.store(1, std::memory_order_release);
}

void ControlThread::Run() {
  const bool has_window = recorder_->page->window.mode != WindowMode::kNone;
  for (;;) {
    const bool is_quiet = has_failed_ || Is(ProcessState::kClosed) || !has_window;
    if (Sleep(is_quiet ? kQuietPoll : kPoll)) break;
    LookAtPage();
    const uint64_t now = MonotonicNow();
    PublishModules();
    if (now - drained_ >= kDrainPeriod) {
      DrainEvents();
      if (is_recording_) WriteCounters();
    }
    if (is_recording_ && now - flushed_ >= kFlushPeriod) FlushActivity(0);
    if (Is(ProcessState::kArmed) && window_.starts_with_step()) {
      HoldRecords();
    } else {
      DrainRecords(/*write=*/is_recording_);
    }
    if (has_window && !has_failed_) Step();
  }
  End();
}

}  // namespace pgle::recorder
