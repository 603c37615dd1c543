// Subscribers and callbacks of the fake CUPTI.
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "cupti_api.h"
#include "cupti_knobs.h"
#include "tool_hooks.h"

namespace pgle::fake {
namespace {

constexpr uint32_t kMaxCallbacks = 1024;

struct Subscriber {
  Callback callback = nullptr;
  void* user_data = nullptr;
};

Subscriber the_subscriber;
std::atomic<Subscriber*> subscriber{nullptr};
std::mutex subscriber_mutex;
std::array<std::array<std::atomic<bool>, kMaxCallbacks>, kDomains> enabled;

// How many ids a domain has: newer ones are unknown to older releases.
uint32_t CallbackCount(int domain) {
  const uint32_t version = GetKnobs().version;
  if (domain == kDriverDomain) return version >= 130500 ? 877 : version >= 130000 ? 807 : 784;
  if (domain == kResourceDomain) return version >= 130000 ? 24 : 22;
  return kMaxCallbacks;
}

Subscriber* Wanting(int domain, uint32_t id) {
  return id < kMaxCallbacks && enabled[domain][id].load(std::memory_order_acquire)
             ? subscriber.load(std::memory_order_acquire)
             : nullptr;
}

void Deliver(DriverCall* call, int site) {
  Subscriber* to = Wanting(kDriverDomain, call->callback);
  // What a client calls in its callbacks is not shown to it again.
  if (!to || ThisThread().api || ThisThread().resource) return;
  const CallbackData data = {
      .site = site,
      .function_name = call->name,
      .function_parameters = call->parameters,
      .return_value = &call->result,
      .symbol_name = call->name,
      .context = call->context,
      .context_uid = TheDriver().context_id(call->context),
      .correlation_data = &call->tool_data,
      .correlation_id = call->correlation,
  };
  ThisThread().api = true;
  to->callback(to->user_data, kDriverDomain, call->callback, &data);
  ThisThread().api = false;
}

void Entered(DriverCall* call) {
  Deliver(call, kSiteEnter);
}
void Left(DriverCall* call) {
  Deliver(call, kSiteExit);
}

void Happened(ResourceEvent event, const Resource& resource) {
  Subscriber* to = Wanting(kResourceDomain, event);
  if (!to || ThisThread().resource) return;
  GraphData graph = {
      .graph = resource.graph,
      .original_graph = resource.original_graph,
      .node = resource.node,
      .original_node = resource.original_node,
      .node_type = resource.node_type,
      .dependency = nullptr,
      .exec = resource.exec,
  };
  const ResourceData data = {
      .context = resource.context,
      .handle = resource.stream,
      .descriptor = event >= kGraphCreated ? &graph : nullptr,
  };
  ThisThread().resource = true;
  to->callback(to->user_data, kResourceDomain, event, &data);
  ThisThread().resource = false;
}

void Given(const Work& work) {
  Record(work);
}

constexpr ToolHooks kHooks = {Entered, Left, Happened, Given};

CuptiResult Subscribe(Subscriber** handle, Callback callback, void* user_data) {
  if (!handle || !callback) return kCuptiInvalidParameter;
  if (GetKnobs().subscribe_error) return GetKnobs().subscribe_error;
  if (!TheDriver().attach) return kCuptiUnknown;  // what the real one says without a driver
  std::lock_guard lock(subscriber_mutex);
  if (subscriber.load()) return kCuptiMultipleSubscribers;
  if (!TheDriver().attach(&kHooks)) return kCuptiUnknown;
  the_subscriber = {callback, user_data};
  *handle = &the_subscriber;
  subscriber.store(*handle, std::memory_order_release);
  return kCuptiSuccess;
}

}  // namespace

const Driver& TheDriver() {
  static const Driver driver = [] {
    Driver found{};
    void* library = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    if (!library) return found;
    const auto take = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    };
    take("fakeDriverAttach", found.attach);
    take("fakeDriverDetach", found.detach);
    take("fakeDriverNodeId", found.node_id);
    take("fakeDriverGraphId", found.graph_id);
    take("fakeDriverExecId", found.exec_id);
    take("fakeDriverContextId", found.context_id);
    take("fakeDriverDeviceOf", found.device_of);
    take("fakeDriverStreamId", found.stream_id);
    take("cuCtxGetCurrent", found.current_context);
    return found;
  }();
  return driver;
}

void Misuse(const char* what) {
  fprintf(stderr, "fake CUPTI: %s\n", what);
  abort();
}

InCallback& ThisThread() {
  thread_local InCallback in_callback;
  return in_callback;
}

}  // namespace pgle::fake

using namespace pgle::fake;

PGLE_CUPTI cuptiSubscribe(Subscriber** handle, Callback callback, void* user_data) {
  return Subscribe(handle, callback, user_data);
}

#if FAKE_CUPTI_DEFAULT_VERSION >= 130000  // CUPTI 12 does not have it
PGLE_CUPTI cuptiSubscribe_v2(Subscriber** handle, Callback callback, void* user_data,
                             SubscriberParams* parameters) {
  if (!parameters || parameters->size < offsetof(SubscriberParams, allow_multiple)) {
    return kCuptiInvalidParameter;
  }
  const CuptiResult result = Subscribe(handle, callback, user_data);
  if (result == kCuptiMultipleSubscribers && parameters->old_name) {
    snprintf(parameters->old_name, parameters->old_name_size, "%s", GetKnobs().holder);
  }
  return result;
}
#endif

PGLE_CUPTI cuptiUnsubscribe(Subscriber* handle) {
  std::lock_guard lock(subscriber_mutex);
  if (!handle || subscriber.load() != handle) return kCuptiInvalidParameter;
  subscriber.store(nullptr);
  for (auto& domain : enabled) {
    for (auto& id : domain) id.store(false);
  }
  TheDriver().detach();
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiEnableCallback(uint32_t enable, Subscriber* handle, int domain, uint32_t callback) {
  if (!handle || subscriber.load() != handle || domain <= 0 || domain >= kDomains ||
      callback == 0 || callback >= CallbackCount(domain)) {
    return kCuptiInvalidParameter;
  }
  enabled[domain][callback].store(enable != 0, std::memory_order_release);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiEnableDomain(uint32_t enable, Subscriber* handle, int domain) {
  if (!handle || subscriber.load() != handle || domain <= 0 || domain >= kDomains) {
    return kCuptiInvalidParameter;
  }
  for (uint32_t i = 1; i < CallbackCount(domain); ++i) enabled[domain][i].store(enable != 0);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiSupportedDomains(size_t* count, const int** domains) {
  static constexpr int kSupported[] = {1, 2, 3, 4, 5, 6};
  *count = 6;
  *domains = kSupported;
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiFinalize() {
  Misuse("cuptiFinalize was called: it crashes programs");
}
