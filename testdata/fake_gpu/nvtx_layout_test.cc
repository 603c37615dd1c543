// Compiled against NVTX's headers: what the recorder takes to be NVTX's binary interface is what
// they say. Nothing runs; a difference does not compile.
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "capture/recorder/nvtx_abi.h"

namespace abi = pgle::recorder::nvtx;

#define SAME(ours, field, theirs, their_field)                            \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) && \
                sizeof(ours::field) == sizeof(theirs::their_field))
#define EQUAL(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))

SAME(abi::EventAttributes, version, nvtxEventAttributes_t, version);
SAME(abi::EventAttributes, size, nvtxEventAttributes_t, size);
SAME(abi::EventAttributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME(abi::EventAttributes, payload, nvtxEventAttributes_t, payload);
SAME(abi::EventAttributes, message_type, nvtxEventAttributes_t, messageType);
SAME(abi::EventAttributes, message, nvtxEventAttributes_t, message);
static_assert(sizeof(abi::EventAttributes) == sizeof(nvtxEventAttributes_t));

static_assert(sizeof(abi::ExportCallbacks) == sizeof(NvtxExportTableCallbacks));
SAME(abi::ExportCallbacks, get_module_function_table, NvtxExportTableCallbacks,
     GetModuleFunctionTable);
static_assert(sizeof(abi::ExportVersionInfo) == sizeof(NvtxExportTableVersionInfo));
SAME(abi::ExportVersionInfo, set_injection_nvtx_version, NvtxExportTableVersionInfo,
     SetInjectionNvtxVersion);

EQUAL(abi::kExportCallbacks, NVTX_ETID_CALLBACKS);
EQUAL(abi::kExportVersionInfo, NVTX_ETID_VERSIONINFO);
EQUAL(abi::kCore2, NVTX_CB_MODULE_CORE2);
EQUAL(abi::kDomainRangePushEx, NVTX_CBID_CORE2_DomainRangePushEx);
EQUAL(abi::kDomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
EQUAL(abi::kDomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
EQUAL(abi::kDomainCreateA, NVTX_CBID_CORE2_DomainCreateA);
EQUAL(abi::kAscii, NVTX_MESSAGE_TYPE_ASCII);
EQUAL(abi::kRegistered, NVTX_MESSAGE_TYPE_REGISTERED);
EQUAL(abi::kNoTracking, NVTX_NO_PUSH_POP_TRACKING);

int main() {
  return 0;
}
