// Runs a command with the recorder injected, as pgle-capture does, and prints what the recorders
// said as JSON lines: a test's view of the control page, without the launcher's rules.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "capture/recorder/control_page.h"

namespace pgle::recorder {
namespace {

struct Options {
  std::string recorder, directory, spill_directory, steps, time, command_window, module;
  bool automatic = false, profiler = false, none = false, by_count = false, no_nvtx = false;
  uint64_t count = 5, give_up = 1000;
  uint64_t buffer_bytes = uint64_t{1} << 20, memory_bytes = uint64_t{64} << 20;
  int signal = 0, signal_after_ms = 0;
  bool signal_when_open = false, signal_when_closed = false;
  std::vector<std::string> command;
};

// "A:B".
void Split(const std::string& text, uint64_t* first, uint64_t* second) {
  *first = strtoull(text.c_str(), nullptr, 10);
  const size_t colon = text.find(':');
  if (colon != std::string::npos) *second = strtoull(text.c_str() + colon + 1, nullptr, 10);
}

WindowSettings Window(const Options& options) {
  WindowSettings window;
  window.buffer_bytes = options.buffer_bytes;
  window.memory_bytes = options.memory_bytes;
  window.has_module_filter = !options.module.empty();
  window.count = options.count;
  window.give_up_after = static_cast<uint32_t>(options.give_up);
  window.decide_by_count = options.by_count;
  if (!options.steps.empty()) {
    window.mode = WindowMode::kSteps;
    Split(options.steps, &window.first, &window.last);
  } else if (!options.time.empty()) {
    window.mode = WindowMode::kTime;
    Split(options.time, &window.delay_ns, &window.duration_ns);
    window.delay_ns *= 1000000;
    window.duration_ns *= 1000000;
  } else if (options.profiler) {
    window.mode = WindowMode::kProfilerApi;
  } else if (!options.command_window.empty()) {
    window.mode = WindowMode::kCommand;
  } else if (options.none) {
    window.mode = WindowMode::kNone;
  }
  return window;
}

ControlPage* MakePage(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(ControlPage)) != 0) {
    perror(path.c_str());
    exit(125);
  }
  void* memory = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(125);
  }
  auto* page = static_cast<ControlPage*>(memory);
  page->magic = kControlMagic;
  page->version = kControlVersion;
  page->launcher_alive.store(1);
  return page;
}

uint32_t SlotCount(const ControlPage& page) {
  return std::min(page.processes.load(std::memory_order_acquire), kMaxProcesses);
}

// The launcher's part while the command runs.
void Answer(ControlPage* page, const std::string& wanted) {
  for (uint32_t i = 0; i < SlotCount(*page); ++i) {
    ProcessSlot& slot = page->slots[i];
    const uint32_t count = std::min(slot.module_count.load(std::memory_order_acquire), kMaxModules);
    for (uint32_t m = 0; m < count; ++m) {
      ModuleName& name = slot.modules[m];
      if (name.verdict.load() != Verdict::kPending) continue;
      name.verdict.store(wanted == name.text ? Verdict::kYes : Verdict::kNo);
    }
  }
}

bool HasReached(const ControlPage& page, ProcessState wanted) {
  for (uint32_t i = 0; i < SlotCount(page); ++i) {
    const ProcessState state = page.slots[i].state.load();
    if (state >= wanted && state <= ProcessState::kClosed) return true;
  }
  return false;
}

// Milliseconds since something was so for the first time; nothing before.
class Since {
 public:
  explicit Since(bool is_so = false) { Look(is_so); }
  void Look(bool is_so) {
    if (is_so && !start_) start_ = std::chrono::steady_clock::now();
  }
  bool IsPast(uint64_t ms) const {
    return start_ && std::chrono::steady_clock::now() - *start_ >= std::chrono::milliseconds(ms);
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> start_;
};

void Print(const ControlPage& page) {
  for (uint32_t i = 0; i < SlotCount(page); ++i) {
    const ProcessSlot& slot = page.slots[i];
    printf(
        "{\"pid\":%u,\"state\":%u,\"fault\":%u,\"code\":%d,\"text\":\"%s\",\"spill\":\"%s\","
        "\"cupti_version\":%u,\"has_ended\":%u,\"records\":%llu,\"module_runs\":%llu,"
        "\"module_count\":%u,\"nvtx_clients\":%u}\n",
        slot.pid.load(), static_cast<unsigned>(slot.state.load()),
        static_cast<unsigned>(slot.fault.load()), slot.code.load(), slot.text, slot.spill,
        slot.cupti_version.load(), slot.has_ended.load(),
        static_cast<unsigned long long>(slot.records.load()),
        static_cast<unsigned long long>(slot.module_runs.load()), slot.module_count.load(),
        slot.nvtx_clients.load());
  }
}

[[noreturn]] void Execute(const Options& options, const std::string& control) {
  setenv("CUDA_INJECTION64_PATH", options.recorder.c_str(), 1);
  if (!options.no_nvtx) setenv("NVTX_INJECTION64_PATH", options.recorder.c_str(), 1);
  setenv(kControlVariable, control.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& word : options.command) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  perror(arguments[0]);
  _exit(127);
}

int Run(const Options& options) {
  const std::string control = options.directory + "/control";
  ControlPage* page = MakePage(control);
  page->window = Window(options);
  snprintf(page->directory, sizeof page->directory, "%s",
           (options.spill_directory.empty() ? options.directory : options.spill_directory).c_str());
  uint64_t open_ms = 0, close_ms = 0;
  Split(options.command_window, &open_ms, &close_ms);

  const pid_t child = fork();
  if (child == 0) Execute(options, control);
  const Since start(true);
  Since open, signal_state(!options.signal_when_open && !options.signal_when_closed);
  bool is_signalled = false;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    open.Look(HasReached(*page, ProcessState::kOpen));
    signal_state.Look(HasReached(
        *page, options.signal_when_closed ? ProcessState::kClosed : ProcessState::kOpen));
    if (!options.module.empty()) Answer(page, options.module);
    if (!options.command_window.empty()) {
      page->command.store(open.IsPast(close_ms)   ? Command::kClose
                          : start.IsPast(open_ms) ? Command::kOpen
                                                  : Command::kNothing);
    }
    const bool is_time = signal_state.IsPast(static_cast<uint64_t>(options.signal_after_ms));
    if (options.signal != 0 && !is_signalled && is_time) {
      kill(child, options.signal);
      is_signalled = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  Print(*page);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace
}  // namespace pgle::recorder

int main(int argc, char** argv) {
  pgle::recorder::Options options;
  CLI::App app("Runs a command with the recorder injected.");
  app.add_option("--recorder", options.recorder)->required();
  app.add_option("--directory", options.directory, "absolute, empty")->required();
  app.add_option("--spill-directory", options.spill_directory, "else that of the control page");
  app.add_option("--steps", options.steps, "A:B");
  app.add_flag("--auto", options.automatic);
  app.add_option("--count", options.count, "of --auto");
  app.add_option("--give-up", options.give_up, "of --auto");
  app.add_flag("--by-count", options.by_count, "of --auto");
  app.add_option("--time", options.time, "DELAY:DURATION, ms");
  app.add_flag("--profiler", options.profiler);
  app.add_option("--command", options.command_window,
                 "OPEN:CLOSE, ms after the start, and after the window is open");
  app.add_flag("--none", options.none, "no window");
  app.add_option("--module", options.module, "its executions are the steps");
  app.add_option("--buffer-bytes", options.buffer_bytes);
  app.add_option("--memory-bytes", options.memory_bytes);
  app.add_option("--signal", options.signal, "to send to the command");
  app.add_option("--signal-after", options.signal_after_ms, "ms from then on");
  app.add_flag("--signal-when-open", options.signal_when_open, "else at the start");
  app.add_flag("--signal-when-closed", options.signal_when_closed);
  app.add_flag("--no-nvtx", options.no_nvtx, "inject for CUDA alone");
  app.add_option("run", options.command, "command")->required();
  CLI11_PARSE(app, argc, argv);
  return pgle::recorder::Run(options);
}
