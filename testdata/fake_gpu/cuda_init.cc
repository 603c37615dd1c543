// Start of the fake driver: the injection, and the tool that attaches to it.
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "cuda_state.h"

namespace pgle::fake {
namespace {

std::atomic<const ToolHooks*> tool{nullptr};
std::atomic<bool> initialized{false};

std::atomic<uint32_t>& Correlations() {
  static std::atomic<uint32_t> next{[] {
    const char* first = getenv("FAKE_CUDA_FIRST_CORRELATION");
    return static_cast<uint32_t>(first ? strtoul(first, nullptr, 10) : 1);
  }()};
  return next;
}

// As the real driver does: a library that cannot be loaded, or that does not show its entry point,
// is passed over without a word.
void LoadInjection() {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (!path || !*path) return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  using Initialize = int (*)();
  auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjection"));
  if (initialize) initialize();
}

}  // namespace

uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

bool IsInitialized() {
  return initialized.load(std::memory_order_acquire);
}

uint32_t NextCorrelation() {
  const uint32_t id = Correlations().fetch_add(1, std::memory_order_relaxed);
  return id ? id : NextCorrelation();
}

const ToolHooks* Tool() {
  return tool.load(std::memory_order_acquire);
}

void Tell(ResourceEvent event, const Resource& resource) {
  if (const ToolHooks* hooks = Tool()) hooks->happened(event, resource);
}

ToolCall::ToolCall(DriverCallback callback, const char* name, const void* parameters)
    : tool_(Tool()) {
  call_.callback = callback;
  call_.name = name;
  call_.parameters = parameters;
  call_.context = CurrentContext();
  call_.correlation = NextCorrelation();
  if (tool_) tool_->entered(&call_);
}

ToolCall::~ToolCall() {
  if (tool_) tool_->left(&call_);
}

}  // namespace pgle::fake

using namespace pgle::fake;

CUresult cuInit(unsigned) {
  static std::recursive_mutex mutex;
  static bool begun = false;
  std::lock_guard lock(mutex);
  if (begun) return kSuccess;
  begun = true;
  // The strictest reading of what a library may do here: devices do not answer before it returns.
  LoadInjection();
  initialized.store(true, std::memory_order_release);
  Tell(kInitFinished, {});
  return kSuccess;
}

CUresult cuDriverGetVersion(int* version) {
  const char* text = getenv("FAKE_CUDA_VERSION");
  *version = text ? atoi(text) : 13000;
  return kSuccess;
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == kSuccess ? "CUDA_SUCCESS" : "CUDA_ERROR_UNKNOWN";
  return kSuccess;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return cuGetErrorName(error, text);
}

CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return kNotFound;
}

int fakeDriverAttach(const ToolHooks* hooks) {
  const ToolHooks* none = nullptr;
  return tool.compare_exchange_strong(none, hooks) || none == hooks;
}

void fakeDriverDetach() {
  tool.store(nullptr, std::memory_order_release);
}
