#include "capture/recorder/nvtx.h"

#include <cstring>

#include "capture/recorder/clock.h"
#include "capture/recorder/driver.h"
#include "capture/recorder/recorder.h"

namespace pgle::recorder {
namespace {

// Clients keep domains as handles, and ask them for nothing. XLA:GPU annotates in the domain "TSL"
// (xla/tsl/profiler/lib/nvtx_utils.cc); ranges of others (NCCL, cuBLAS, Python's nvtx) are passed
// over.
struct Domain {
  bool is_xla;
};
Domain xla_domain{true};
Domain other_domain{false};
std::atomic<uint32_t> clients;

Domain* CreateDomain(const char* name) {
  if (name == nullptr || strcmp(name, "TSL") != 0) return &other_domain;
  // The times of modules need no driver: without one this is the first sign of XLA.
  StartRecorder(/*with_cuda=*/false);
  return &xla_domain;
}

const Text* RegisterString(Domain* domain, const char* text) {
  static const Text unused{};
  Recorder* const recorder = TheRecorder();
  if (domain != &xla_domain || recorder == nullptr) return &unused;
  const Text* const stored = recorder->texts.Intern(text);
  return stored != nullptr ? stored : &unused;
}

uint32_t LaneOf(const ThreadState& thread, uint8_t device) {
  return device < kDeviceLanes ? device : kDeviceLanes + thread.number % (kLanes - kDeviceLanes);
}

// Not a launch: a step that begins some milliseconds late, once, is better than one that is not
// recorded.
void WaitAtGate(const Recorder& recorder, const Module& module) {
  const ProcessSlot& slot = *recorder.slot;
  const std::atomic<Verdict>& verdict = slot.modules[recorder.modules.IndexOf(&module)].verdict;
  const bool is_filtered = recorder.page->window.has_module_filter != 0 &&
                           recorder.page->launcher_alive.load(std::memory_order_relaxed) != 0;
  const uint64_t begin = recorder.decisions.load(std::memory_order_acquire);
  const timespec pause = {0, 500'000};
  for (int i = 0; i < 1000; ++i) {
    if (slot.state.load(std::memory_order_acquire) != ProcessState::kReady) return;
    if (is_filtered && verdict.load(std::memory_order_acquire) == Verdict::kNo) return;
    // The first decision may have been under way already.
    const bool is_decided = recorder.decisions.load(std::memory_order_acquire) >= begin + 2;
    const bool is_answered = !is_filtered || verdict.load() != Verdict::kPending;
    if (is_decided && is_answered) return;
    nanosleep(&pause, nullptr);
  }
}

void BeginModule(Recorder* recorder, ThreadState* thread, const Text* text, uint32_t stack) {
  Module* const module = recorder->modules.Find(text);
  if (module == nullptr) {
    recorder->threads.CountLoss();
    return;
  }
  const uint8_t device = CurrentDevice();
  const uint32_t lane = LaneOf(*thread, device);
  auto& counts = module->lanes[lane];
  const uint32_t index = counts.begun.load(std::memory_order_relaxed);
  const uint64_t gate = recorder->gate.load(std::memory_order_relaxed);
  if (index == gate || (gate == Recorder::kGateAtCandidates && IsCandidate(index))) [[unlikely]] {
    WaitAtGate(*recorder, *module);
  }
  const uint64_t now = RealtimeNow();
  uint32_t reference = module->reference_lane.load(std::memory_order_relaxed);
  if (reference == 0 && module->reference_lane.compare_exchange_strong(reference, lane + 1,
                                                                       std::memory_order_relaxed)) {
    reference = lane + 1;
    recorder->modules.last_news.store(now, std::memory_order_relaxed);
  }
  if (reference == lane + 1) {
    module->recent_starts[index % kRecentStarts].store(now, std::memory_order_relaxed);
    if ((index & (index - 1)) == 0 && index != 0) {
      module->modules_known[__builtin_ctz(index)].store(recorder->modules.count(),
                                                        std::memory_order_relaxed);
    }
  }
  const uint32_t number = counts.begun.fetch_add(1, std::memory_order_release);
  recorder->modules.runs.fetch_add(1, std::memory_order_relaxed);
  thread->module = module;
  thread->module_depth = thread->depth;
  thread->module_lane = lane;
  thread->module_device = device;
  thread->execution = ++thread->executions;
  if (recorder->is_quiet.load(std::memory_order_relaxed)) return;
  EventRing* const ring = recorder->threads.RingOf(thread);
  if (ring == nullptr) return;
  Event event{EventKind::kModuleBegin, device, 0, stack, {}};
  event.module = {now, number, thread->execution, 0};
  ring->Push(event);
}

void EndModule(Recorder* recorder, ThreadState* thread) {
  const uint32_t number =
      thread->module->lanes[thread->module_lane].ended.fetch_add(1, std::memory_order_release);
  const bool is_quiet = recorder->is_quiet.load(std::memory_order_relaxed);
  EventRing* const ring = is_quiet ? nullptr : recorder->threads.RingOf(thread);
  if (ring != nullptr) {
    Event event{EventKind::kModuleEnd, thread->module_device, 0, thread->stack(), {}};
    event.module = {RealtimeNow(), number, thread->execution, 0};
    ring->Push(event);
  }
  thread->module = nullptr;
  thread->module_depth = 0;
  thread->execution = 0;
}

int Push(Domain* domain, const nvtx::EventAttributes* attributes) {
  if (domain != &xla_domain) return nvtx::kNoTracking;
  Recorder* const recorder = TheRecorder();
  if (recorder == nullptr) return nvtx::kNoTracking;
  ThreadState* const thread = recorder->threads.Current();
  if (thread == nullptr) return nvtx::kNoTracking;
  const Text* text = nullptr;
  if (attributes != nullptr && attributes->message != nullptr) {
    if (attributes->message_type == nvtx::kRegistered) {
      text = static_cast<const Text*>(attributes->message);
    } else if (attributes->message_type == nvtx::kAscii) {
      text = recorder->texts.Intern(static_cast<const char*>(attributes->message));
    }
  }
  const uint32_t scope = ++thread->pushes;
  const uint32_t depth = thread->depth++;
  if (depth >= kMaxDepth) return static_cast<int>(depth);
  // A text that was lost still takes its place on the stack, so that the pops fit.
  uint32_t stack = depth == 0 ? 0 : thread->open[depth - 1].stack;
  if (text != nullptr && text->id != 0) {
    const RangeTable::Found found = recorder->ranges.Intern(stack, text->id);
    stack = found.id;
    if (found.is_fresh && thread->module != nullptr) {
      thread->module->operations.fetch_add(1, std::memory_order_relaxed);
    }
  }
  thread->open[depth] = {stack, scope};
  if (text != nullptr && text->kind != TextKind::kOther) [[unlikely]] {
    if (text->kind == TextKind::kCompile) {
      recorder->modules.last_news.store(RealtimeNow(), std::memory_order_relaxed);
    } else if (thread->module == nullptr) {
      BeginModule(recorder, thread, text, stack);
    }
  }
  return static_cast<int>(depth);
}

int Pop(Domain* domain) {
  if (domain != &xla_domain) return nvtx::kNoTracking;
  Recorder* const recorder = TheRecorder();
  if (recorder == nullptr) return nvtx::kNoTracking;
  ThreadState* const thread = recorder->threads.Current();
  if (thread == nullptr || thread->depth == 0) return nvtx::kNoTracking;
  if (thread->module != nullptr && thread->depth == thread->module_depth) {
    EndModule(recorder, thread);
  }
  return static_cast<int>(--thread->depth);
}

void Set(nvtx::FunctionTable table, unsigned size, nvtx::Core2 index, void* function) {
  if (index < size && table[index] != nullptr) {
    *table[index] = reinterpret_cast<nvtx::Function>(function);
  }
}

}  // namespace

bool AttachNvtxClient(nvtx::GetExportTable get_export_table) {
  const auto* const callbacks =
      static_cast<const nvtx::ExportCallbacks*>(get_export_table(nvtx::kExportCallbacks));
  const auto* const version =
      static_cast<const nvtx::ExportVersionInfo*>(get_export_table(nvtx::kExportVersionInfo));
  if (callbacks == nullptr || callbacks->size < sizeof(nvtx::ExportCallbacks)) return false;
  if (version != nullptr && version->set_injection_nvtx_version != nullptr) {
    version->set_injection_nvtx_version(3);
  }
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->get_module_function_table(nvtx::kCore2, &table, &size) == 0 || table == nullptr) {
    return false;
  }
  Set(table, size, nvtx::kDomainCreateA, reinterpret_cast<void*>(CreateDomain));
  Set(table, size, nvtx::kDomainRegisterStringA, reinterpret_cast<void*>(RegisterString));
  Set(table, size, nvtx::kDomainRangePushEx, reinterpret_cast<void*>(Push));
  Set(table, size, nvtx::kDomainRangePop, reinterpret_cast<void*>(Pop));
  clients.fetch_add(1, std::memory_order_relaxed);
  return true;
}

uint32_t NvtxClients() {
  return clients.load(std::memory_order_relaxed);
}

}  // namespace pgle::recorder
