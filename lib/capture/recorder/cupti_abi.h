// CUPTI's binary interface, as far as the recorder uses it: declared here rather than taken from
// CUPTI's headers, so that the recorder builds without CUDA and one binary serves CUPTI 12.0
// to 13.x. Records have grown at their ends only; what stands here is the part that all versions
// share. The layout test compiles this file against the headers of several releases.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgle::recorder::cupti {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInsufficientPrivileges = 35;
inline constexpr Result kMultipleSubscribers = 39;

// cuptiGetVersion(): 18 is CUDA 11.8, 28 is 12.9 update 1; from 13.0 on it is xxyyzz.
inline constexpr uint32_t kVersion12_0 = 19;
inline constexpr uint32_t kVersion12_9 = 27;
inline constexpr uint32_t kVersion13_0u1 = 130001;
inline constexpr uint32_t kVersion14_0 = 140000;

enum Domain : int { kDriverApi = 1, kResource = 3 };

enum ResourceCallback : uint32_t {
  kGraphNodeCreated = 13,
  kGraphNodeCloned = 20,
};

enum Site : int { kEnter = 0, kExit = 1 };

// Driver functions; those that give a device work are listed where they are subscribed to.
enum DriverCallback : uint32_t {
  kProfilerStart = 308,
  kProfilerStop = 309,
};

struct CallbackData {
  Site site;
  const char* function_name;
  const void* function_params;
  void* function_return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_uid;
  uint64_t* correlation_data;  // the client's, from the entry of a call to its exit
  uint32_t correlation_id;
};

struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;  // GraphData, of the callbacks on graphs
};

struct GraphData {
  void *graph, *original_graph;
  void *node, *original_node;
  int node_type;
  void* dependency;
  void* graph_exec;
};

using Subscriber = void*;
using CallbackFunction = void (*)(void* user_data, Domain domain, uint32_t callback,
                                  const void* data);
using RequestBuffer = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using CompleteBuffer = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid_size);

enum ActivityKind : int {
  kMemcpy = 1,
  kMemset = 2,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,  // CUPTI_ACTIVITY_KIND_MEMCPY2
};

enum Attribute : int { kZeroedBuffers = 5 };

inline constexpr uint32_t kFlushForced = 1;

// Records start with their kind.
struct Activity {
  int kind;
};

// CUpti_ActivityKernel9 (12.0) and later.
struct KernelActivity {
  int kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers_per_thread;
  uint8_t unused1[8];
  uint64_t start, end;
  uint64_t completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared_memory, dynamic_shared_memory;
  uint32_t local_memory_per_thread, local_memory_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  uint8_t unused2[32];
  uint64_t graph_node;
  uint8_t unused3[4];
  uint32_t graph;
};
static_assert(offsetof(KernelActivity, registers_per_thread) == 6);
static_assert(offsetof(KernelActivity, start) == 16);
static_assert(offsetof(KernelActivity, device) == 40);
static_assert(offsetof(KernelActivity, grid) == 52);
static_assert(offsetof(KernelActivity, block) == 64);
static_assert(offsetof(KernelActivity, static_shared_memory) == 76);
static_assert(offsetof(KernelActivity, correlation) == 92);
static_assert(offsetof(KernelActivity, name) == 104);
static_assert(offsetof(KernelActivity, graph_node) == 144);
static_assert(offsetof(KernelActivity, graph) == 156);
inline constexpr size_t kKernelActivitySize = 208;  // the least that any version has

// CUpti_ActivityMemcpy5 and later.
struct MemcpyActivity {
  int kind;
  uint8_t copy_kind, source_kind, destination_kind;
  uint8_t flags;  // 1: asynchronous
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device, context, stream;
  uint32_t correlation;
  uint8_t unused[16];
  uint64_t graph_node;
  uint32_t graph;
};
static_assert(offsetof(MemcpyActivity, correlation) == 44);
static_assert(offsetof(MemcpyActivity, graph_node) == 64);
static_assert(offsetof(MemcpyActivity, graph) == 72);
inline constexpr size_t kMemcpyActivitySize = 88;

// CUpti_ActivityMemcpyPtoP4: a copy between two devices.
struct MemcpyPeerActivity {
  int kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device, context, stream;
  uint32_t source_device, source_context;
  uint32_t destination_device, destination_context;
  uint32_t correlation;
  uint8_t unused[8];
  uint64_t graph_node;
  uint32_t graph;
};
static_assert(offsetof(MemcpyPeerActivity, destination_device) == 52);
static_assert(offsetof(MemcpyPeerActivity, correlation) == 60);
static_assert(offsetof(MemcpyPeerActivity, graph_node) == 72);
static_assert(offsetof(MemcpyPeerActivity, graph) == 80);
inline constexpr size_t kMemcpyPeerActivitySize = 88;

// CUpti_ActivityMemset4.
struct MemsetActivity {
  int kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start, end;
  uint32_t device, context, stream;
  uint32_t correlation;
  uint16_t flags;  // 1: asynchronous
  uint16_t memory_kind;
  uint8_t unused[12];
  uint64_t graph_node;
  uint32_t graph;
};
static_assert(offsetof(MemsetActivity, memory_kind) == 50);
static_assert(offsetof(MemsetActivity, graph_node) == 64);
static_assert(offsetof(MemsetActivity, graph) == 72);
inline constexpr size_t kMemsetActivitySize = 88;

}  // namespace pgle::recorder::cupti
