// Kernels, copies and memsets of the fake driver.
#include <algorithm>
#include <map>

#include "cuda_state.h"

namespace pgle::fake {
namespace {

constexpr uint64_t kLatency = 2000;  // from the call to the start on an idle device
constexpr uint64_t kCopyTime = 3000;
constexpr uint64_t kSetTime = 1000;

Work Kernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
            unsigned block_y, unsigned block_z, unsigned shared_bytes) {
  Work work;
  work.kind = WorkKind::kKernel;
  work.name = function->name.c_str();
  work.grid[0] = grid_x, work.grid[1] = grid_y, work.grid[2] = grid_z;
  work.block[0] = block_x, work.block[1] = block_y, work.block[2] = block_z;
  work.shared_bytes = shared_bytes;
  return work;
}

CUresult Launch(CUstream stream, const Work& work, uint64_t nanoseconds, const ToolCall& call) {
  Stream* on = StreamOrDefault(stream);
  if (!on) return kInvalidContext;
  Give(on, work, nanoseconds, call.correlation());
  return kSuccess;
}

// Kinds are CUPTI's: 1 host to device, 2 device to host, 8 device to device; memory 2 pinned,
// 3 device.
CUresult Copy(CUstream stream, size_t bytes, uint8_t kind, uint8_t source, uint8_t destination,
              const ToolCall& call) {
  Work work;
  work.kind = WorkKind::kCopy;
  work.bytes = bytes;
  work.copy_kind = kind;
  work.source_kind = source;
  work.destination_kind = destination;
  return Launch(stream, work, kCopyTime, call);
}

}  // namespace

void Give(Stream* stream, Work work, uint64_t nanoseconds, uint32_t correlation) {
  std::lock_guard lock(stream->mutex);
  if (stream->captured) {
    AddNode(stream->captured,
            work.kind == WorkKind::kKernel ? kKernelNode
            : work.kind == WorkKind::kSet  ? kSetNode
                                           : kCopyNode,
            work, nanoseconds);
    return;
  }
  work.start = std::max(Now() + kLatency, stream->busy_until);
  work.end = work.start + nanoseconds;
  stream->busy_until = work.end + 500;
  work.device = uint32_t(stream->context->device);
  if (work.kind != WorkKind::kPeerCopy) work.destination_device = work.device;
  work.context = stream->context->id;
  work.stream = stream->id;
  work.correlation = correlation;
  if (const ToolHooks* tool = Tool()) tool->given(work);
}

}  // namespace pgle::fake

using namespace pgle::fake;

CUfunction fakeFunction(const char* name, uint64_t nanoseconds) {
  static std::mutex mutex;
  static auto* functions = new std::map<std::pair<std::string, uint64_t>, Function*>;
  std::lock_guard lock(mutex);
  Function*& function = (*functions)[{name, nanoseconds}];
  if (!function) function = new Function{name, nanoseconds};
  return function;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void**) {
  ToolCall call(kCuLaunchKernel, "cuLaunchKernel", parameters);
  return Launch(stream,
                Kernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes),
                function->nanoseconds, call);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void**) {
  ToolCall call(kCuLaunchKernelEx, "cuLaunchKernelEx", parameters);
  return Launch(config->stream,
                Kernel(function, config->grid_x, config->grid_y, config->grid_z, config->block_x,
                       config->block_y, config->block_z, config->shared_bytes),
                function->nanoseconds, call);
}

CUresult cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t bytes, CUstream stream) {
  ToolCall call(kCuMemcpyAsync, "cuMemcpyAsync");
  return Copy(stream, bytes, 8, 3, 3, call);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, size_t bytes, CUstream stream) {
  ToolCall call(kCuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  return Copy(stream, bytes, 8, 3, 3, call);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr, const void*, size_t bytes, CUstream stream) {
  ToolCall call(kCuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  return Copy(stream, bytes, 1, 2, 3, call);
}

CUresult cuMemcpyDtoHAsync_v2(void*, CUdeviceptr, size_t bytes, CUstream stream) {
  ToolCall call(kCuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  return Copy(stream, bytes, 2, 3, 2, call);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext to, CUdeviceptr, CUcontext, size_t bytes,
                           CUstream stream) {
  ToolCall call(kCuMemcpyPeerAsync, "cuMemcpyPeerAsync");
  Work work;
  work.kind = WorkKind::kPeerCopy;
  work.bytes = bytes;
  work.copy_kind = 10;
  work.source_kind = work.destination_kind = 3;
  work.destination_device = uint32_t(to->device);
  return Launch(stream, work, kCopyTime, call);
}

CUresult cuMemsetD32Async(CUdeviceptr, unsigned value, size_t count, CUstream stream) {
  ToolCall call(kCuMemsetD32Async, "cuMemsetD32Async");
  Work work;
  work.kind = WorkKind::kSet;
  work.bytes = 4 * count;
  work.value = value;
  return Launch(stream, work, kSetTime, call);
}

CUresult cuProfilerStart() {
  ToolCall call(kCuProfilerStart, "cuProfilerStart");
  return kSuccess;
}

CUresult cuProfilerStop() {
  ToolCall call(kCuProfilerStop, "cuProfilerStop");
  return kSuccess;
}
