// The part of the CUDA driver's interface that the fake driver has: enough for the recorder, which
// looks functions up by name, and for the fake program. Signatures are the driver's own; handles
// point to objects of the fake. Where NVIDIA's cuda.h is included before, as in the layout test,
// its declarations hold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgle::fake {
struct Context;
struct Function;
struct Graph;
struct GraphExec;
struct Node;
struct Stream;
}  // namespace pgle::fake

#define PGLE_CUDA extern "C" __attribute__((visibility("default")))

#ifndef CUDA_VERSION

using CUresult = int;  // 0: success
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = pgle::fake::Context*;
using CUstream = pgle::fake::Stream*;
using CUfunction = pgle::fake::Function*;
using CUgraph = pgle::fake::Graph*;
using CUgraphExec = pgle::fake::GraphExec*;
using CUgraphNode = pgle::fake::Node*;

struct CUuuid {
  char bytes[16];
};

struct CUlaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  CUstream stream;
  void* attributes;
  unsigned attribute_count;
};

struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction function;
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr destination;
  size_t pitch;
  unsigned value;
  unsigned element_size;
  size_t width, height;
};

PGLE_CUDA CUresult cuInit(unsigned flags);
PGLE_CUDA CUresult cuDriverGetVersion(int* version);
PGLE_CUDA CUresult cuGetErrorName(CUresult error, const char** name);
PGLE_CUDA CUresult cuGetErrorString(CUresult error, const char** text);
PGLE_CUDA CUresult cuGetExportTable(const void** table, const CUuuid* id);

PGLE_CUDA CUresult cuDeviceGetCount(int* count);
PGLE_CUDA CUresult cuDeviceGet(CUdevice* device, int ordinal);
PGLE_CUDA CUresult cuDeviceGetName(char* name, int size, CUdevice device);
PGLE_CUDA CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device);
PGLE_CUDA CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device);
PGLE_CUDA CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
PGLE_CUDA CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device);
PGLE_CUDA CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device);

PGLE_CUDA CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
PGLE_CUDA CUresult cuCtxSetCurrent(CUcontext context);
PGLE_CUDA CUresult cuCtxGetCurrent(CUcontext* context);
PGLE_CUDA CUresult cuCtxGetDevice(CUdevice* device);
PGLE_CUDA CUresult cuCtxSynchronize();
PGLE_CUDA CUresult cuStreamCreate(CUstream* stream, unsigned flags);
PGLE_CUDA CUresult cuStreamSynchronize(CUstream stream);
PGLE_CUDA CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
PGLE_CUDA CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph);

PGLE_CUDA CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                  unsigned grid_z, unsigned block_x, unsigned block_y,
                                  unsigned block_z, unsigned shared_bytes, CUstream stream,
                                  void** parameters, void** extra);
PGLE_CUDA CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                    void** parameters, void** extra);
PGLE_CUDA CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
PGLE_CUDA CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                                        CUstream stream);
PGLE_CUDA CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                                        CUstream stream);
PGLE_CUDA CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
PGLE_CUDA CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                                     CUcontext from_context, size_t bytes, CUstream stream);
PGLE_CUDA CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream);
PGLE_CUDA CUresult cuProfilerStart();
PGLE_CUDA CUresult cuProfilerStop();

PGLE_CUDA CUresult cuGraphCreate(CUgraph* graph, unsigned flags);
PGLE_CUDA CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph,
                                        const CUgraphNode* dependencies, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters);
PGLE_CUDA CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph,
                                        const CUgraphNode* dependencies, size_t count,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters,
                                        CUcontext context);
PGLE_CUDA CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph,
                                            const CUgraphNode* dependencies, size_t count,
                                            CUgraph child);
PGLE_CUDA CUresult cuGraphClone(CUgraph* clone, CUgraph original);
PGLE_CUDA CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph,
                                               unsigned long long flags);
PGLE_CUDA CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
PGLE_CUDA CUresult cuGraphExecDestroy(CUgraphExec exec);
PGLE_CUDA CUresult cuGraphDestroy(CUgraph graph);

// Not of the driver: a kernel that takes `nanoseconds` on the device.
PGLE_CUDA CUfunction fakeFunction(const char* name, uint64_t nanoseconds);

#endif  // CUDA_VERSION
