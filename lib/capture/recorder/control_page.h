// The page that the launcher and the recorders of its processes share: settings go down, states and
// errors come up. The launcher makes it as a file, all of it zero but what it fills in; recorders
// find it by the environment variable kControlVariable and map it.
#pragma once

#include <atomic>
#include <cstdint>

namespace pgle::recorder {

inline constexpr char kControlVariable[] = "PGLE_CAPTURE_CONTROL";
inline constexpr uint32_t kControlMagic = 0x4c474750;  // "PGGL"
inline constexpr uint32_t kControlVersion = 1;
inline constexpr uint32_t kMaxProcesses = 64;
inline constexpr uint32_t kMaxModules = 2048;

enum class WindowMode : uint32_t {
  kSteps = 1,        // executions [first, last) of a module
  kAuto = 2,         // `count` executions of a module once compilation is over and steps are steady
  kTime = 3,         // `delay_ns` after the recorder was loaded, for `duration_ns`
  kProfilerApi = 4,  // cudaProfilerStart to cudaProfilerStop
  kCommand = 5,      // Command::kOpen to Command::kClose
  kNone = 6,         // no window: the times of module executions alone
};

struct WindowSettings {
  WindowMode mode = WindowMode::kAuto;
  // Modules are chosen by name: the recorder publishes names, the launcher answers with a Verdict.
  // 0: of all modules the one with most executions times distinct operations.
  uint32_t has_module_filter = 0;
  uint64_t first = 0, last = 0;
  uint64_t count = 0;
  // kAuto with several ranks: decide by counts of executions alone, which are equal on all ranks.
  uint32_t decide_by_count = 0;
  uint32_t give_up_after = 0;  // kAuto: executions without steadiness after which to start anyway
  uint64_t delay_ns = 0, duration_ns = 0;
  uint64_t buffer_bytes = 0;  // of one activity buffer
  uint64_t memory_bytes = 0;  // of all activity buffers; beyond it records are dropped and counted
};

enum class Command : uint32_t { kNothing = 0, kOpen = 1, kClose = 2 };

enum class Verdict : uint8_t { kPending = 0, kNo = 1, kYes = 2 };

struct ModuleName {
  char text[254];  // hlo_module, NUL-terminated, cut to fit
  std::atomic<Verdict> verdict;
  uint8_t reserved;
};
static_assert(sizeof(ModuleName) == 256);

enum class ProcessState : uint32_t {
  kFree = 0,
  kLoaded = 1,   // the driver has loaded the recorder
  kReady = 2,    // subscribed to CUPTI (or, without a window, counting executions)
  kArmed = 3,    // activity is on
  kOpen = 4,     // inside the window
  kClosing = 5,  // behind it, waiting for the last records
  kClosed = 6,   // the recording is complete in the spill file
  kFailed = 7,   // no recording; `fault`, `code` and `text` say why. The program runs on
};

enum class Fault : uint32_t {
  kNone = 0,
  kNoCupti = 1,          // libcupti cannot be loaded; text: where it was looked for
  kUnknownCupti = 2,     // code: its version, which is of another major version or too old
  kSubscriberTaken = 3,  // CUPTI error 39; text: who holds it, where CUPTI tells
  kPrivileges = 4,       // CUPTI error 35
  kCuptiCall = 5,        // code: CUPTI's error, text: the call and CUPTI's name of the error
  kSpill = 6,            // code: errno, text: the file
  kLayout = 7,           // records are not laid out as known; text: what was seen
  kNoMemory = 8,         // code: errno
  kWindowMissed = 10,    // activity was on, but the window's first step did not come; text: why
  kFlushTimeout = 9,     // the last records did not come; the recording is incomplete (not fatal)
};

struct ProcessSlot {
  std::atomic<ProcessState> state;
  std::atomic<uint32_t> pid;
  std::atomic<Fault> fault;
  std::atomic<int32_t> code;
  char text[256];   // written before `fault`
  char spill[256];  // name of the spill file inside the control page's directory; written once it
                    // exists
  std::atomic<uint32_t> cupti_version;
  std::atomic<uint32_t> has_ended;  // the process came to its end and wrote the end mark
  std::atomic<uint64_t> records;    // written so far
  std::atomic<uint64_t> module_runs;
  std::atomic<uint32_t> module_count;  // names published so far
  std::atomic<uint32_t> nvtx_clients;  // libraries whose ranges the recorder receives
  uint64_t reserved[5];
  ModuleName modules[kMaxModules];
};

struct ControlPage {
  uint32_t magic = kControlMagic;
  uint32_t version = kControlVersion;
  char directory[1024];  // absolute: where recorders put their spill files
  WindowSettings window;
  std::atomic<Command> command;
  std::atomic<uint32_t> processes;  // slots taken; may exceed kMaxProcesses
  // kAuto, several processes of one launcher: the first one to decide fixes the first step, plus
  // one.
  std::atomic<uint64_t> agreed_first;
  std::atomic<uint32_t> launcher_alive;  // 0 once the launcher is gone: nobody answers any more
  std::atomic<int32_t> no_room;  // errno of a process for whose slot the file system had no room
  ProcessSlot slots[kMaxProcesses];
};

}  // namespace pgle::recorder
