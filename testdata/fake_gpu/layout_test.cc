// Compiled against the CUPTI headers of one release: what the recorder and the fake CUPTI take to
// be CUPTI's interface is what NVIDIA's headers say. Nothing runs; a difference does not compile.
#include <cupti.h>

#include <cstddef>

#include "capture/recorder/cupti_abi.h"
#include "cupti_api.h"
#include "cupti_records.h"
#include "tool_hooks.h"

namespace abi = pgle::recorder::cupti;
namespace fake = pgle::fake;

#if CUPTI_API_VERSION >= 130400
using Kernel = CUpti_ActivityKernel13;
using Memcpy = CUpti_ActivityMemcpy7;
using Memset = CUpti_ActivityMemset5;
#elif CUPTI_API_VERSION >= 130300
using Kernel = CUpti_ActivityKernel12;
using Memcpy = CUpti_ActivityMemcpy6;
using Memset = CUpti_ActivityMemset4;
#elif CUPTI_API_VERSION >= 130200
using Kernel = CUpti_ActivityKernel11;
using Memcpy = CUpti_ActivityMemcpy6;
using Memset = CUpti_ActivityMemset4;
#elif CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Memcpy = CUpti_ActivityMemcpy6;
using Memset = CUpti_ActivityMemset4;
#elif CUPTI_API_VERSION >= 26
using Kernel = CUpti_ActivityKernel9;
using Memcpy = CUpti_ActivityMemcpy6;
using Memset = CUpti_ActivityMemset4;
#else
using Kernel = CUpti_ActivityKernel9;
using Memcpy = CUpti_ActivityMemcpy5;
using Memset = CUpti_ActivityMemset4;
#endif
using PeerCopy = CUpti_ActivityMemcpyPtoP4;

// SAME(ours, our field, theirs, their field): at one place and of one size.
#define SAME(ours, field, theirs, their_field)                            \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) && \
                sizeof(ours::field) == sizeof(theirs::their_field))
// AT(offset, theirs, their field): the fake's offset.
#define AT(offset, theirs, their_field) static_assert((offset) == offsetof(theirs, their_field))

// Records: the recorder.
SAME(abi::KernelActivity, kind, Kernel, kind);
SAME(abi::KernelActivity, registers_per_thread, Kernel, registersPerThread);
SAME(abi::KernelActivity, start, Kernel, start);
SAME(abi::KernelActivity, end, Kernel, end);
SAME(abi::KernelActivity, completed, Kernel, completed);
SAME(abi::KernelActivity, device, Kernel, deviceId);
SAME(abi::KernelActivity, context, Kernel, contextId);
SAME(abi::KernelActivity, stream, Kernel, streamId);
static_assert(offsetof(abi::KernelActivity, grid) == offsetof(Kernel, gridX));
static_assert(offsetof(abi::KernelActivity, grid) + 8 == offsetof(Kernel, gridZ));
static_assert(offsetof(abi::KernelActivity, block) == offsetof(Kernel, blockX));
static_assert(offsetof(abi::KernelActivity, block) + 8 == offsetof(Kernel, blockZ));
SAME(abi::KernelActivity, static_shared_memory, Kernel, staticSharedMemory);
SAME(abi::KernelActivity, dynamic_shared_memory, Kernel, dynamicSharedMemory);
SAME(abi::KernelActivity, correlation, Kernel, correlationId);
SAME(abi::KernelActivity, name, Kernel, name);
SAME(abi::KernelActivity, graph_node, Kernel, graphNodeId);
SAME(abi::KernelActivity, graph, Kernel, graphId);
static_assert(abi::kKernelActivitySize <= sizeof(Kernel));

SAME(abi::MemcpyActivity, copy_kind, Memcpy, copyKind);
SAME(abi::MemcpyActivity, source_kind, Memcpy, srcKind);
SAME(abi::MemcpyActivity, destination_kind, Memcpy, dstKind);
SAME(abi::MemcpyActivity, flags, Memcpy, flags);
SAME(abi::MemcpyActivity, bytes, Memcpy, bytes);
SAME(abi::MemcpyActivity, start, Memcpy, start);
SAME(abi::MemcpyActivity, end, Memcpy, end);
SAME(abi::MemcpyActivity, device, Memcpy, deviceId);
SAME(abi::MemcpyActivity, context, Memcpy, contextId);
SAME(abi::MemcpyActivity, stream, Memcpy, streamId);
SAME(abi::MemcpyActivity, correlation, Memcpy, correlationId);
SAME(abi::MemcpyActivity, graph_node, Memcpy, graphNodeId);
SAME(abi::MemcpyActivity, graph, Memcpy, graphId);
static_assert(abi::kMemcpyActivitySize <= sizeof(Memcpy));

SAME(abi::MemcpyPeerActivity, copy_kind, PeerCopy, copyKind);
SAME(abi::MemcpyPeerActivity, source_kind, PeerCopy, srcKind);
SAME(abi::MemcpyPeerActivity, destination_kind, PeerCopy, dstKind);
SAME(abi::MemcpyPeerActivity, flags, PeerCopy, flags);
SAME(abi::MemcpyPeerActivity, bytes, PeerCopy, bytes);
SAME(abi::MemcpyPeerActivity, start, PeerCopy, start);
SAME(abi::MemcpyPeerActivity, end, PeerCopy, end);
SAME(abi::MemcpyPeerActivity, device, PeerCopy, deviceId);
SAME(abi::MemcpyPeerActivity, context, PeerCopy, contextId);
SAME(abi::MemcpyPeerActivity, stream, PeerCopy, streamId);
SAME(abi::MemcpyPeerActivity, source_device, PeerCopy, srcDeviceId);
SAME(abi::MemcpyPeerActivity, destination_device, PeerCopy, dstDeviceId);
SAME(abi::MemcpyPeerActivity, correlation, PeerCopy, correlationId);
SAME(abi::MemcpyPeerActivity, graph_node, PeerCopy, graphNodeId);
SAME(abi::MemcpyPeerActivity, graph, PeerCopy, graphId);
static_assert(abi::kMemcpyPeerActivitySize <= sizeof(PeerCopy));

SAME(abi::MemsetActivity, value, Memset, value);
SAME(abi::MemsetActivity, bytes, Memset, bytes);
SAME(abi::MemsetActivity, start, Memset, start);
SAME(abi::MemsetActivity, end, Memset, end);
SAME(abi::MemsetActivity, device, Memset, deviceId);
SAME(abi::MemsetActivity, context, Memset, contextId);
SAME(abi::MemsetActivity, stream, Memset, streamId);
SAME(abi::MemsetActivity, correlation, Memset, correlationId);
SAME(abi::MemsetActivity, flags, Memset, flags);
SAME(abi::MemsetActivity, memory_kind, Memset, memoryKind);
SAME(abi::MemsetActivity, graph_node, Memset, graphNodeId);
SAME(abi::MemsetActivity, graph, Memset, graphId);
static_assert(abi::kMemsetActivitySize <= sizeof(Memset));

// Records: the fake.
using K = fake::KernelOffsets;
AT(K::kRegisters, Kernel, registersPerThread);
AT(K::kStart, Kernel, start);
AT(K::kEnd, Kernel, end);
AT(K::kCompleted, Kernel, completed);
AT(K::kDevice, Kernel, deviceId);
AT(K::kContext, Kernel, contextId);
AT(K::kStream, Kernel, streamId);
AT(K::kGrid, Kernel, gridX);
AT(K::kBlock, Kernel, blockX);
AT(K::kStaticShared, Kernel, staticSharedMemory);
AT(K::kDynamicShared, Kernel, dynamicSharedMemory);
AT(K::kCorrelation, Kernel, correlationId);
AT(K::kGridId, Kernel, gridId);
AT(K::kName, Kernel, name);
AT(K::kGraphNode, Kernel, graphNodeId);
AT(K::kGraph, Kernel, graphId);
using C = fake::CopyOffsets;
AT(C::kCopyKind, Memcpy, copyKind);
AT(C::kSourceKind, Memcpy, srcKind);
AT(C::kDestinationKind, Memcpy, dstKind);
AT(C::kFlags, Memcpy, flags);
AT(C::kBytes, Memcpy, bytes);
AT(C::kStart, Memcpy, start);
AT(C::kEnd, Memcpy, end);
AT(C::kDevice, Memcpy, deviceId);
AT(C::kContext, Memcpy, contextId);
AT(C::kStream, Memcpy, streamId);
AT(C::kCorrelation, Memcpy, correlationId);
AT(C::kGraphNode, Memcpy, graphNodeId);
AT(C::kGraph, Memcpy, graphId);
using P = fake::PeerCopyOffsets;
AT(C::kBytes, PeerCopy, bytes);
AT(C::kStart, PeerCopy, start);
AT(C::kStream, PeerCopy, streamId);
AT(P::kSourceDevice, PeerCopy, srcDeviceId);
AT(P::kDestinationDevice, PeerCopy, dstDeviceId);
AT(P::kCorrelation, PeerCopy, correlationId);
AT(P::kGraphNode, PeerCopy, graphNodeId);
AT(P::kGraph, PeerCopy, graphId);
static_assert(P::kSize == sizeof(PeerCopy));
using S = fake::SetOffsets;
AT(S::kValue, Memset, value);
AT(S::kBytes, Memset, bytes);
AT(S::kStart, Memset, start);
AT(S::kStream, Memset, streamId);
AT(S::kCorrelation, Memset, correlationId);
AT(S::kFlags, Memset, flags);
AT(S::kMemoryKind, Memset, memoryKind);
AT(S::kGraphNode, Memset, graphNodeId);
AT(S::kGraph, Memset, graphId);
static_assert(fake::SizesOf(CUPTI_API_VERSION).kernel == sizeof(Kernel));
static_assert(fake::SizesOf(CUPTI_API_VERSION).copy == sizeof(Memcpy));
static_assert(fake::SizesOf(CUPTI_API_VERSION).set == sizeof(Memset));
#if CUPTI_API_VERSION >= 130400
static_assert(fake::SizesOf(130300).kernel == sizeof(CUpti_ActivityKernel12));
static_assert(fake::SizesOf(130200).kernel == sizeof(CUpti_ActivityKernel11));
#endif
#if CUPTI_API_VERSION >= 26
static_assert(fake::SizesOf(25).copy == sizeof(CUpti_ActivityMemcpy5));
#endif

// Data of callbacks: both.
#define SAME_CALLBACK_DATA(ours, site, name, params, result, symbol, context, uid, data, id) \
  SAME(ours, site, CUpti_CallbackData, callbackSite);                                        \
  SAME(ours, name, CUpti_CallbackData, functionName);                                        \
  SAME(ours, params, CUpti_CallbackData, functionParams);                                    \
  SAME(ours, result, CUpti_CallbackData, functionReturnValue);                               \
  SAME(ours, symbol, CUpti_CallbackData, symbolName);                                        \
  SAME(ours, context, CUpti_CallbackData, context);                                          \
  SAME(ours, uid, CUpti_CallbackData, contextUid);                                           \
  SAME(ours, data, CUpti_CallbackData, correlationData);                                     \
  SAME(ours, id, CUpti_CallbackData, correlationId);                                         \
  static_assert(sizeof(ours) == sizeof(CUpti_CallbackData))
SAME_CALLBACK_DATA(abi::CallbackData, site, function_name, function_params, function_return_value,
                   symbol_name, context, context_uid, correlation_data, correlation_id);
SAME_CALLBACK_DATA(fake::CallbackData, site, function_name, function_parameters, return_value,
                   symbol_name, context, context_uid, correlation_data, correlation_id);

#define SAME_RESOURCE_DATA(ours, graph_data)                        \
  SAME(ours, context, CUpti_ResourceData, context);                 \
  SAME(ours, handle, CUpti_ResourceData, resourceHandle);           \
  SAME(ours, descriptor, CUpti_ResourceData, resourceDescriptor);   \
  SAME(graph_data, graph, CUpti_GraphData, graph);                  \
  SAME(graph_data, original_graph, CUpti_GraphData, originalGraph); \
  SAME(graph_data, node, CUpti_GraphData, node);                    \
  SAME(graph_data, original_node, CUpti_GraphData, originalNode);   \
  SAME(graph_data, node_type, CUpti_GraphData, nodeType);           \
  SAME(graph_data, dependency, CUpti_GraphData, dependency);        \
  static_assert(sizeof(graph_data) == sizeof(CUpti_GraphData))
SAME_RESOURCE_DATA(abi::ResourceData, abi::GraphData);
SAME_RESOURCE_DATA(fake::ResourceData, fake::GraphData);

// Numbers, of enumerations of ours and of theirs.
#define EQUAL(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
EQUAL(abi::kDriverApi, CUPTI_CB_DOMAIN_DRIVER_API);
EQUAL(abi::kResource, CUPTI_CB_DOMAIN_RESOURCE);
EQUAL(abi::kEnter, CUPTI_API_ENTER);
EQUAL(abi::kExit, CUPTI_API_EXIT);
EQUAL(abi::kGraphNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
EQUAL(abi::kGraphNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
EQUAL(abi::kProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
EQUAL(abi::kProfilerStop, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
EQUAL(abi::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
EQUAL(abi::kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
EQUAL(abi::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
EQUAL(abi::kMemcpyPeer, CUPTI_ACTIVITY_KIND_MEMCPY2);
EQUAL(abi::kZeroedBuffers, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
EQUAL(abi::kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
EQUAL(abi::kSuccess, CUPTI_SUCCESS);
EQUAL(abi::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
EQUAL(abi::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);

EQUAL(fake::kNodeCreated, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
EQUAL(fake::kNodeCloned, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
EQUAL(fake::kGraphCreated, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
EQUAL(fake::kInitFinished, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
#define SAME_CALLBACK(ours, name) EQUAL(fake::ours, CUPTI_DRIVER_TRACE_CBID_##name)
SAME_CALLBACK(kCuLaunchKernel, cuLaunchKernel);
SAME_CALLBACK(kCuLaunchKernelEx, cuLaunchKernelEx);
SAME_CALLBACK(kCuMemcpyAsync, cuMemcpyAsync);
SAME_CALLBACK(kCuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2);
SAME_CALLBACK(kCuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2);
SAME_CALLBACK(kCuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2);
SAME_CALLBACK(kCuMemcpyPeerAsync, cuMemcpyPeerAsync);
SAME_CALLBACK(kCuMemsetD32Async, cuMemsetD32Async);
SAME_CALLBACK(kCuGraphCreate, cuGraphCreate);
SAME_CALLBACK(kCuGraphAddKernelNode, cuGraphAddKernelNode);
SAME_CALLBACK(kCuGraphAddMemsetNode, cuGraphAddMemsetNode);
SAME_CALLBACK(kCuGraphAddChildGraphNode, cuGraphAddChildGraphNode);
SAME_CALLBACK(kCuGraphClone, cuGraphClone);
SAME_CALLBACK(kCuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags);
SAME_CALLBACK(kCuGraphLaunch, cuGraphLaunch);
SAME_CALLBACK(kCuProfilerStart, cuProfilerStart);
SAME_CALLBACK(kCuProfilerStop, cuProfilerStop);

int main() {
  return 0;
}
