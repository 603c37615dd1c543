// Between the fake driver and the fake CUPTI: what a real driver tells a tool through its private
// tables. One tool at a time; the driver calls it on the thread that called the driver.
#pragma once

#include <cstdint>

#include "cuda_api.h"

namespace pgle::fake {

// CUPTI's ids of driver functions (cupti_driver_cbid.h) and of resource events
// (cupti_callbacks.h). 0: a function that tools are not told of.
enum DriverCallback : uint32_t {
  kCuMemcpyAsync = 306,
  kCuLaunchKernel = 307,
  kCuProfilerStart = 308,
  kCuProfilerStop = 309,
  kCuMemcpyHtoDAsync = 277,
  kCuMemcpyDtoHAsync = 279,
  kCuMemcpyDtoDAsync = 281,
  kCuMemcpyPeerAsync = 319,
  kCuMemsetD32Async = 220,
  kCuGraphCreate = 501,
  kCuGraphAddKernelNode = 502,
  kCuGraphAddMemsetNode = 506,
  kCuGraphLaunch = 514,
  kCuGraphClone = 523,
  kCuGraphAddChildGraphNode = 525,
  kCuGraphInstantiateWithFlags = 643,
  kCuLaunchKernelEx = 652,
};

enum ResourceEvent : uint32_t {
  kContextCreated = 1,
  kStreamCreated = 3,
  kInitFinished = 5,
  kGraphCreated = 9,
  kGraphDestroyStarting = 10,
  kGraphCloned = 11,
  kNodeCreateStarting = 12,
  kNodeCreated = 13,
  kNodeDestroyStarting = 14,
  kExecCreateStarting = 17,
  kExecCreated = 18,
  kExecDestroyStarting = 19,
  kNodeCloned = 20,
};

struct DriverCall {
  uint32_t callback = 0;
  const char* name = nullptr;
  const void* parameters = nullptr;
  Context* context = nullptr;
  uint32_t correlation = 0;
  int result = 0;
  uint64_t tool_data = 0;  // CUpti_CallbackData.correlationData points here
};

struct Resource {
  Context* context = nullptr;
  Stream* stream = nullptr;
  Graph* graph = nullptr;
  Graph* original_graph = nullptr;
  Node* node = nullptr;
  Node* original_node = nullptr;
  int node_type = 0;
  GraphExec* exec = nullptr;
};

enum class WorkKind { kKernel, kCopy, kPeerCopy, kSet };

// One thing that a device does, from start to end (nanoseconds of CLOCK_REALTIME; in the future
// while it waits).
struct Work {
  WorkKind kind = WorkKind::kKernel;
  uint64_t start = 0, end = 0;
  uint32_t device = 0, context = 0, stream = 0, correlation = 0;
  uint64_t node = 0;
  uint32_t graph = 0;
  const char* name = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  uint64_t bytes = 0;
  uint32_t value = 0;
  uint8_t copy_kind = 0, source_kind = 0, destination_kind = 0;
  uint32_t destination_device = 0;
};

struct ToolHooks {
  void (*entered)(DriverCall* call);
  void (*left)(DriverCall* call);
  void (*happened)(ResourceEvent event, const Resource& resource);
  void (*given)(const Work& work);  // the device was given it
};

}  // namespace pgle::fake

// The driver's side. attach: 0 when another tool is attached. Ids are those that CUPTI shows.
PGLE_CUDA int fakeDriverAttach(const pgle::fake::ToolHooks* hooks);
PGLE_CUDA void fakeDriverDetach();
PGLE_CUDA uint64_t fakeDriverNodeId(CUgraphNode node);
PGLE_CUDA uint32_t fakeDriverGraphId(CUgraph graph);
PGLE_CUDA uint32_t fakeDriverExecId(CUgraphExec exec);
PGLE_CUDA uint32_t fakeDriverContextId(CUcontext context);
PGLE_CUDA uint32_t fakeDriverDeviceOf(CUcontext context);
PGLE_CUDA uint32_t fakeDriverStreamId(CUstream stream);
