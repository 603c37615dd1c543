#include "capture/recorder/recorder.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include "capture/recorder/control_thread.h"
#include "capture/recorder/driver.h"
#include "capture/recorder/memory.h"
#include "capture/recorder/subscriber.h"

namespace pgle::recorder {
namespace {

// Never given back: CUPTI's threads and the program's may call until the process is gone.
std::atomic<Recorder*> the_recorder;
ControlThread* control_thread = nullptr;
SharedPage shared_page;
// Several libraries load us, at the same time perhaps: the first one makes the tables, the others
// wait.
enum Progress : uint32_t { kNothing = 0, kAtWork = 1, kDone = 2 };
std::atomic<uint32_t> tables, thread_is_started;

// What the tables and the control thread reserve, and as much again for the activity buffers.
constexpr size_t kAddressSpace = size_t{3} << 30;

// Where address space is scarce, the program needs it more (ulimit -v, or a kernel that commits no
// more than it has).
bool HasAddressSpace() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    struct rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur < 4 * kAddressSpace) {
      return false;
    }
  }
  void* const space = Reserve<char>(kAddressSpace);
  if (space == nullptr) return false;
  munmap(space, kAddressSpace);
  return true;
}

// A forked child has our memory, but neither our thread nor a working CUDA.
void OnFork() {
  the_recorder.store(nullptr, std::memory_order_relaxed);
  thread_is_started.store(1, std::memory_order_relaxed);
}

void OnExit() {
  const Recorder* const recorder = TheRecorder();
  if (recorder == nullptr || recorder->pid != getpid() || control_thread == nullptr) return;
  control_thread->Finish();
}

void FailToStart(ProcessSlot* slot, Fault fault, int code, const char* text) {
  SetFault(slot, fault, code, text);
  slot->state.store(ProcessState::kFailed, std::memory_order_release);
}

void MakeTables() {
  if (shared_page.Map() == nullptr) return;
  Recorder* const recorder = HasAddressSpace() ? Reserve<Recorder>(1) : nullptr;
  if (recorder == nullptr) return;
  new (recorder) Recorder;  // not all of it begins as zero
  if (!recorder->texts.Init() || !recorder->ranges.Init() || !recorder->modules.Init() ||
      !recorder->threads.Init()) {
    return;
  }
  recorder->shared_page = &shared_page;
  recorder->page = shared_page.page();
  recorder->pid = getpid();
  pthread_atfork(nullptr, nullptr, OnFork);
  the_recorder.store(recorder, std::memory_order_release);
}

// CUPTI, of which there is one client a process: who comes first holds it.
bool StartCupti(Recorder* recorder) {
  ProcessSlot* const slot = recorder->slot;
  char text[256] = {};
  int code = 0;
  const Fault fault = cupti::Load(&recorder->cupti, DriverVersion(), text, sizeof(text), &code);
  slot->cupti_version.store(recorder->cupti.version, std::memory_order_relaxed);
  if (fault != Fault::kNone) {
    FailToStart(slot, fault, code, text);
    return false;
  }
  const char* call = "";
  cupti::Result result = Subscribe(recorder, &call);
  if (result == cupti::kSuccess && recorder->page->window.mode == WindowMode::kProfilerApi) {
    call = "cuptiEnableCallback";
    result = EnableProfilerApi(recorder);
  }
  if (result == cupti::kSuccess) return true;
  snprintf(text, sizeof(text), "%s: %s", call, cupti::NameOf(recorder->cupti, result));
  FailToStart(slot,
              result == cupti::kMultipleSubscribers      ? Fault::kSubscriberTaken
              : result == cupti::kInsufficientPrivileges ? Fault::kPrivileges
                                                         : Fault::kCuptiCall,
              result, text);
  return false;
}

// False when nothing can be recorded.
bool StartThread(Recorder* recorder) {
  ProcessSlot* const slot = shared_page.TakeSlot();
  if (slot == nullptr) return false;
  if (recorder == nullptr) {
    FailToStart(slot, Fault::kNoMemory, ENOMEM, "too little address space: see ulimit -v and -d");
    return false;
  }
  recorder->slot = slot;
  const bool has_window = recorder->page->window.mode != WindowMode::kNone;
  if (has_window && !StartCupti(recorder)) return false;
  ControlThread* const thread = Reserve<ControlThread>(1);
  const int error = thread == nullptr ? ENOMEM : (new (thread) ControlThread)->Start(recorder);
  if (error != 0) {
    FailToStart(slot, Fault::kNoMemory, error, strerror(error));
    return false;
  }
  control_thread = thread;
  atexit(OnExit);
  return true;
}

}  // namespace

void SetFault(ProcessSlot* slot, Fault fault, int code, const char* text) {
  snprintf(slot->text, sizeof(slot->text), "%s", text);
  slot->code.store(code, std::memory_order_relaxed);
  slot->fault.store(fault, std::memory_order_release);
}

Recorder* TheRecorder() {
  return the_recorder.load(std::memory_order_acquire);
}

void StartRecorder(bool with_cuda) {
  uint32_t progress = kNothing;
  if (tables.compare_exchange_strong(progress, kAtWork, std::memory_order_acq_rel)) {
    MakeTables();
    tables.store(kDone, std::memory_order_release);
  }
  while (tables.load(std::memory_order_acquire) != kDone) sched_yield();
  const ControlPage* const page = shared_page.page();
  if (page == nullptr) return;
  // A window needs the driver; the times of modules do not.
  if (!with_cuda && page->window.mode != WindowMode::kNone) return;
  if (thread_is_started.exchange(1, std::memory_order_acq_rel) != 0) return;
  // Nobody would read what the callbacks write.
  if (!StartThread(TheRecorder())) the_recorder.store(nullptr, std::memory_order_release);
}

}  // namespace pgle::recorder
