// Emits ranges as tsl::profiler::PushAnnotation does (xla/tsl/profiler/lib/nvtx_utils.cc): strings
// are registered once, and a push carries a payload that lies on the caller's stack.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "annotations.h"

namespace {

// Of nvToolsExtPayload.h, which some releases do not let a compiler read.
constexpr int32_t kPayloadType = static_cast<int32_t>(0xDFBD0009);
struct Payload {
  uint64_t schema;
  size_t size;
  const void* payload;
};

nvtxDomainHandle_t Domain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("TSL");
  return domain;
}

nvtxStringHandle_t Registered(const char* text) {
  static std::mutex mutex;
  static auto* strings = new std::unordered_map<std::string, nvtxStringHandle_t>;
  std::lock_guard lock(mutex);
  nvtxStringHandle_t& handle = (*strings)[text];
  if (!handle) handle = nvtxDomainRegisterStringA(Domain(), text);
  return handle;
}

nvtxEventAttributes_t Attributes() {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

}  // namespace

void fakeXlaPush(const char* text) {
  if (!Domain()) return;
  const struct {
    nvtxStringHandle_t name;
    int64_t id;
  } fields = {Registered(text), 1};
  const Payload payload = {0, sizeof fields, &fields};
  nvtxEventAttributes_t attributes = Attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = fields.name;
  attributes.payloadType = kPayloadType;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = reinterpret_cast<uintptr_t>(&payload);
  nvtxDomainRangePushEx(Domain(), &attributes);
}

void fakeXlaPushPlain(const char* text) {
  if (!Domain()) return;
  std::string copy(text);
  nvtxEventAttributes_t attributes = Attributes();
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = copy.c_str();
  nvtxDomainRangePushEx(Domain(), &attributes);
  copy.assign(copy.size(), '?');
}

void fakeXlaPop() {
  if (Domain()) nvtxDomainRangePop(Domain());
}
