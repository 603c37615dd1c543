// Stands in for a program with the recorder in it, for the tests of pgle-capture: does on the
// control page and in a spill file what a recorder does, one step an argument.
//
//   slot               takes a slot
//   STATE              loaded, ready, armed, open, closing, closed: goes into that state
//   fail FAULT CODE TEXT
//   spill              makes the spill file
//   module NAME        publishes a module's name
//   verdict NAME       waits for the answer and prints it
//   run NAME N         N executions of a module on one device; inside the window each has a kernel
//   command open|close waits for the launcher's command
//   end                comes to its end; without it the process was killed
//   await STATE        until another process of the command has come so far; takes no slot
//   records N          until another process has written so many records
//   sleep S
//   exit N
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "capture/recorder/control_page.h"
#include "capture/recorder/spill_format.h"

using namespace pgle::recorder;

namespace {

constexpr uint64_t kStepNs = 2'000'000;
constexpr uint64_t kKernelNs = 1'000'000;

[[noreturn]] void Die(const char* what) {
  perror(what);
  exit(99);
}

void Sleep(double seconds) {
  usleep(static_cast<useconds_t>(seconds * 1e6));
}

uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

class Client {
 public:
  Client() {
    const char* file = getenv(kControlVariable);
    if (file == nullptr) Die("no control page");
    const int fd = open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0) Die(file);
    void* map = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) Die(file);
    close(fd);
    page_ = static_cast<ControlPage*>(map);
    if (page_->magic != kControlMagic || page_->launcher_alive != 1) Die("control page");
  }

  void TakeSlot() {
    const uint32_t index = page_->processes++;
    if (index >= kMaxProcesses) exit(0);
    slot_ = &page_->slots[index];
    slot_->pid = static_cast<uint32_t>(getpid());
    slot_->state = ProcessState::kLoaded;
  }

  bool Enter(const std::string& name) {
    const auto& states = States();
    const auto state = states.find(name);
    if (state == states.end()) return false;
    if (state->second == ProcessState::kArmed) WriteWindow(WindowState::kArmed);
    if (state->second == ProcessState::kOpen) {
      in_window_ = true;
      first_ = runs_;
      WriteWindow(WindowState::kOpen);
    }
    if (state->second == ProcessState::kClosing) {
      in_window_ = false;
      WriteWindow(WindowState::kClosing);
    }
    if (state->second == ProcessState::kClosed) {
      WriteCounters();
      WriteWindow(WindowState::kClosed);
    }
    slot_->state = state->second;
    return true;
  }

  void Fail(int fault, int code, const char* text) {
    strncpy(slot_->text, text, sizeof slot_->text - 1);
    slot_->code = code;
    slot_->fault = static_cast<Fault>(fault);
    if (slot_->fault != Fault::kFlushTimeout) slot_->state = ProcessState::kFailed;
  }

  void MakeSpill() {
    const std::string name = "p" + std::to_string(getpid()) + ".pgle";
    const std::string path = std::string(page_->directory) + "/" + name;
    spill_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (spill_ < 0) Die(path.c_str());
    ProcessInfo process;
    process.pid = static_cast<uint32_t>(getpid());
    process.start_ns = Now();
    process.cupti_version = 130001;
    process.driver_version = 13000;
    Write(ChunkType::kProcess, &process, sizeof process);
    const char text[] = "command\0python train.py\0";
    Write(ChunkType::kText, text, sizeof text);
    DeviceInfo device;
    device.compute_major = 9;
    device.multiprocessors = 132;
    device.warp_size = 32;
    strcpy(device.name, "NVIDIA H200");
    Write(ChunkType::kDevices, &device, sizeof device);
    WriteString(ChunkType::kKernelNames, 1, "loop_add_fusion");
    strcpy(slot_->spill, name.c_str());
    time_ = Now();
  }

  void Publish(const char* name) {
    const uint32_t index = slot_->module_count;
    strncpy(slot_->modules[index].text, name, sizeof slot_->modules[index].text - 1);
    slot_->module_count = index + 1;
  }

  void AwaitVerdict(const std::string& name) {
    for (uint32_t i = 0; i < slot_->module_count; ++i) {
      ModuleName& module = slot_->modules[i];
      if (name != module.text) continue;
      while (module.verdict == Verdict::kPending) Sleep(0.01);
      printf("%s %s\n", name.c_str(), module.verdict == Verdict::kYes ? "yes" : "no");
      fflush(stdout);
    }
  }

  void AwaitCommand(const std::string& name) {
    const Command wanted = name == "open" ? Command::kOpen : Command::kClose;
    while (page_->command != wanted) Sleep(0.01);
  }

  void AwaitState(const std::string& name) {
    const ProcessState wanted = States().at(name);
    AwaitOther([=](const ProcessSlot& slot) { return slot.state >= wanted; });
  }

  void AwaitRecords(uint64_t count) {
    AwaitOther([=](const ProcessSlot& slot) { return slot.records >= count; });
  }

  void RunModule(const std::string& name, int count) {
    const uint32_t range = RangeOf(name);
    std::vector<Event> events;
    std::vector<KernelRecord> kernels;
    for (int i = 0; i < count; ++i) {
      ++execution_;
      Event event;
      event.kind = EventKind::kModuleBegin;
      event.device = 0;
      event.range = range;
      event.module = {time_, executions_[name]++, execution_, 0};
      events.push_back(event);
      event.kind = EventKind::kLaunch;
      event.device = kNoDevice;
      event.callback = 307;  // cuLaunchKernel
      event.range = range + 1;
      event.launch = {time_ + 1000, 5000, execution_, execution_, execution_};
      events.push_back(event);
      event.kind = EventKind::kModuleEnd;
      event.device = 0;
      event.range = range;
      event.module = {time_ + 10000, executions_[name] - 1, execution_, 0};
      events.push_back(event);
      if (in_window_) {
        KernelRecord kernel;
        kernel.start = time_ + 20000;
        kernel.end = kernel.start + kKernelNs;
        kernel.correlation = execution_;
        kernel.name = 1;
        kernel.context = 1;
        kernel.stream = 7;
        kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = 1;
        kernel.block[0] = 128;
        kernel.block[1] = kernel.block[2] = 1;
        kernels.push_back(kernel);
      }
      time_ += kStepNs;
      ++runs_;
    }
    std::string bytes(sizeof(EventsHeader) + events.size() * sizeof(Event), '\0');
    EventsHeader header;
    header.tid = static_cast<uint32_t>(getpid());
    memcpy(bytes.data(), &header, sizeof header);
    memcpy(bytes.data() + sizeof header, events.data(), events.size() * sizeof(Event));
    Write(ChunkType::kEvents, bytes.data(), bytes.size());
    Write(ChunkType::kKernels, kernels.data(), kernels.size() * sizeof(KernelRecord));
    records_ += kernels.size();
    slot_->records = records_;
    slot_->module_runs = runs_;
  }

  void End() {
    WriteCounters();
    const EndMark mark = {Now(), 0};
    Write(ChunkType::kEnd, &mark, sizeof mark);
    slot_->has_ended = 1;
  }

 private:
  static const std::map<std::string, ProcessState>& States() {
    static const std::map<std::string, ProcessState> states = {
        {"loaded", ProcessState::kLoaded},   {"ready", ProcessState::kReady},
        {"armed", ProcessState::kArmed},     {"open", ProcessState::kOpen},
        {"closing", ProcessState::kClosing}, {"closed", ProcessState::kClosed}};
    return states;
  }

  template <typename Predicate>
  void AwaitOther(Predicate predicate) {
    while (true) {
      for (uint32_t i = 0; i < std::min<uint32_t>(page_->processes, kMaxProcesses); ++i) {
        if (predicate(page_->slots[i])) return;
      }
      Sleep(0.01);
    }
  }

  void Write(ChunkType type, const void* payload, size_t size) {
    if (spill_ < 0 || size == 0) return;
    std::string bytes(sizeof(ChunkHeader) + (size + 7) / 8 * 8, '\0');
    memcpy(bytes.data() + sizeof(ChunkHeader), payload, size);
    ChunkHeader header;
    header.type = static_cast<uint16_t>(type);
    header.size = static_cast<uint32_t>(bytes.size() - sizeof header);
    header.crc32 = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + sizeof header), header.size));
    memcpy(bytes.data(), &header, sizeof header);
    if (write(spill_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      Die("spill file");
    }
  }

  void WriteString(ChunkType type, uint32_t id, const std::string& text) {
    const StringEntry entry = {id, static_cast<uint32_t>(text.size())};
    std::string bytes(reinterpret_cast<const char*>(&entry), sizeof entry);
    bytes += text;
    bytes.resize((bytes.size() + 3) / 4 * 4);
    Write(type, bytes.data(), bytes.size());
  }

  // Of the module; the one of its only op is the next.
  uint32_t RangeOf(const std::string& name) {
    const auto known = ranges_.find(name);
    if (known != ranges_.end()) return known->second;
    const auto id = static_cast<uint32_t>(1 + 2 * ranges_.size());
    ranges_[name] = id;
    WriteString(ChunkType::kStrings, id,
                "XlaModule:#hlo_module=" + name + ",program_id=" + std::to_string(id) + "#");
    WriteString(ChunkType::kStrings, id + 1,
                "Thunk:#name=add,hlo_op=loop_add_fusion,unique_hlo_op_id=7#");
    const RangeEntry ranges[] = {{id, 0, id, 0}, {id + 1, id, id + 1, 0}};
    Write(ChunkType::kRanges, ranges, sizeof ranges);
    module_string_ = id;
    return id;
  }

  void WriteWindow(WindowState state) {
    struct {
      WindowChange change;
      char reason[16];
    } chunk = {};
    chunk.change.state = state;
    chunk.change.string = module_string_;
    chunk.change.time = time_;
    chunk.change.first = first_;
    chunk.change.last = runs_;
    strcpy(chunk.reason, "as told");
    Write(ChunkType::kWindow, &chunk, sizeof chunk);
  }

  void WriteCounters() {
    Counters counters;
    counters.records = records_;
    counters.module_runs = runs_;
    Write(ChunkType::kCounters, &counters, sizeof counters);
  }

  ControlPage* page_ = nullptr;
  ProcessSlot* slot_ = nullptr;
  int spill_ = -1;
  bool in_window_ = false;
  uint64_t time_ = 0, runs_ = 0, records_ = 0, first_ = 0;
  uint32_t execution_ = 0, module_string_ = 0;
  std::map<std::string, uint32_t> ranges_;
  std::map<std::string, uint64_t> executions_;
};

}  // namespace

int main(int argc, char** argv) {
  Client client;
  const auto next = [&](int* i) -> const char* {
    if (++*i >= argc) exit(98);
    return argv[*i];
  };
  for (int i = 1; i < argc; ++i) {
    const std::string step = argv[i];
    if (step == "slot") {
      client.TakeSlot();
    } else if (step == "fail") {
      const int fault = atoi(next(&i));
      const int code = atoi(next(&i));
      client.Fail(fault, code, next(&i));
    } else if (step == "spill") {
      client.MakeSpill();
    } else if (step == "module") {
      client.Publish(next(&i));
    } else if (step == "verdict") {
      client.AwaitVerdict(next(&i));
    } else if (step == "run") {
      const std::string name = next(&i);
      client.RunModule(name, atoi(next(&i)));
    } else if (step == "command") {
      client.AwaitCommand(next(&i));
    } else if (step == "await") {
      client.AwaitState(next(&i));
    } else if (step == "records") {
      client.AwaitRecords(strtoull(next(&i), nullptr, 10));
    } else if (step == "end") {
      client.End();
    } else if (step == "sleep") {
      Sleep(atof(next(&i)));
    } else if (step == "exit") {
      return atoi(next(&i));
    } else if (!client.Enter(step)) {
      fprintf(stderr, "launcher_client: no such step: %s\n", step.c_str());
      return 98;
    }
  }
  return 0;
}
