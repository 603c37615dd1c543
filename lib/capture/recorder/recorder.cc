#include "capture/recorder/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
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
// Several libraries load us, at the same time perhaps: the first one makes the tables, the others
// wait.
enum Progress : uint32_t { kNothing = 0, kAtWork = 1, kDone = 2 };
std::atomic<uint32_t> tables, thread_is_started;

ControlPage* MapPage() {
  const char* const path = getenv(kControlVariable);
  if (path == nullptr || *path != '/') return nullptr;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat status;
  void* page = MAP_FAILED;
  if (fstat(fd, &status) == 0 && static_cast<size_t>(status.st_size) >= sizeof(ControlPage)) {
    page = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (page == MAP_FAILED) return nullptr;
  auto* const control = static_cast<ControlPage*>(page);
  if (control->magic != kControlMagic || control->version != kControlVersion) return nullptr;
  return control;
}

ProcessSlot* TakeSlot(ControlPage* page) {
  const uint32_t index = page->processes.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxProcesses) return nullptr;
  ProcessSlot* const slot = &page->slots[index];
  slot->pid.store(static_cast<uint32_t>(getpid()), std::memory_order_relaxed);
  slot->state.store(ProcessState::kLoaded, std::memory_order_release);
  return slot;
}

// A forked child has our memory, but neither our thread nor a working CUDA.
void OnFork() {
  the_recorder.store(nullptr, std::memory_order_relaxed);
}

void OnExit() {
  const Recorder* const recorder = TheRecorder();
  if (recorder == nullptr || recorder->pid != getpid() || control_thread == nullptr) return;
  control_thread->Finish();
}

void FailToStart(ProcessSlot* slot, Fault fault, int code, const char* text) {
  snprintf(slot->text, sizeof(slot->text), "%s", text);
  slot->code.store(code, std::memory_order_relaxed);
  slot->fault.store(fault, std::memory_order_release);
  slot->state.store(ProcessState::kFailed, std::memory_order_release);
}

Recorder* MakeTables() {
  ControlPage* const page = MapPage();
  if (page == nullptr) return nullptr;
  Recorder* const space = Reserve<Recorder>(1);
  if (space == nullptr) return nullptr;
  auto* const recorder = new (space) Recorder{};  // not all of it begins as zero
  if (!recorder->texts.Init() || !recorder->ranges.Init() || !recorder->modules.Init() ||
      !recorder->threads.Init()) {
    return nullptr;
  }
  recorder->page = page;
  recorder->pid = getpid();
  pthread_atfork(nullptr, nullptr, OnFork);
  the_recorder.store(recorder, std::memory_order_release);
  return recorder;
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

void StartThread(Recorder* recorder) {
  recorder->slot = TakeSlot(recorder->page);
  if (recorder->slot == nullptr) return;
  const bool has_window = recorder->page->window.mode != WindowMode::kNone;
  if (has_window && !StartCupti(recorder)) return;
  ControlThread* const thread = Reserve<ControlThread>(1);
  if (thread == nullptr) {
    FailToStart(recorder->slot, Fault::kNoMemory, ENOMEM, strerror(ENOMEM));
    return;
  }
  const int error = (new (thread) ControlThread)->Start(recorder);
  if (error != 0) {
    FailToStart(recorder->slot, Fault::kNoMemory, error, strerror(error));
    return;
  }
  control_thread = thread;
  atexit(OnExit);
}

}  // namespace

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
  Recorder* const recorder = TheRecorder();
  if (recorder == nullptr) return;
  // A window needs the driver; the times of modules do not.
  if (!with_cuda && recorder->page->window.mode != WindowMode::kNone) return;
  if (thread_is_started.exchange(1, std::memory_order_acq_rel) == 0) StartThread(recorder);
}

}  // namespace pgle::recorder
