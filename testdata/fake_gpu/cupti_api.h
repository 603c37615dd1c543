// The part of CUPTI's interface that the fake has. Declared from NVIDIA's headers' facts and
// independently of the recorder's own declarations; layout_test.cc holds both against the headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_api.h"

namespace pgle::fake {

using CuptiResult = int;
inline constexpr CuptiResult kCuptiSuccess = 0;
inline constexpr CuptiResult kCuptiInvalidParameter = 1;
inline constexpr CuptiResult kCuptiMaxLimitReached = 12;
inline constexpr CuptiResult kCuptiNotInitialized = 15;
inline constexpr CuptiResult kCuptiInvalidKind = 21;
inline constexpr CuptiResult kCuptiInsufficientPrivileges = 35;
inline constexpr CuptiResult kCuptiMultipleSubscribers = 39;
inline constexpr CuptiResult kCuptiUnknown = 999;

inline constexpr int kDriverDomain = 1, kResourceDomain = 3, kDomains = 7;
inline constexpr int kSiteEnter = 0, kSiteExit = 1;

// CUpti_CallbackData.
struct CallbackData {
  int site;
  const char* function_name;
  const void* function_parameters;
  void* return_value;
  const char* symbol_name;
  CUcontext context;
  uint32_t context_uid;
  uint64_t* correlation_data;
  uint32_t correlation_id;
};

// CUpti_ResourceData; descriptor: CUpti_GraphData, of events on graphs.
struct ResourceData {
  CUcontext context;
  void* handle;
  void* descriptor;
};

struct GraphData {
  CUgraph graph, original_graph;
  CUgraphNode node, original_node;
  int node_type;
  CUgraphNode dependency;
  CUgraphExec exec;
};

// CUpti_SubscriberParams of 13.3 and later; up to 13.2 it ends before the last field.
struct SubscriberParams {
  size_t size;
  const char* name;
  char* old_name;
  size_t old_name_size;
  uint8_t allow_multiple;
  uint8_t padding[7];
};

using Callback = void (*)(void* user_data, int domain, uint32_t callback, const void* data);
using RequestBuffer = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using CompleteBuffer = void (*)(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid_size);

// The functions that the fake driver offers to tools; null members when the process has none.
struct Driver {
  int (*attach)(const struct ToolHooks*);
  void (*detach)();
  uint64_t (*node_id)(CUgraphNode);
  uint32_t (*graph_id)(CUgraph);
  uint32_t (*exec_id)(CUgraphExec);
  uint32_t (*context_id)(CUcontext);
  uint32_t (*device_of)(CUcontext);
  uint32_t (*stream_id)(CUstream);
  CUresult (*current_context)(CUcontext*);
};
const Driver& TheDriver();

// Says what the client did wrong and aborts: a real CUPTI deadlocks or crashes here.
[[noreturn]] void Misuse(const char* what);

// Set while the client runs in a callback of the kind.
struct InCallback {
  bool resource = false, buffer = false, api = false;
};
InCallback& ThisThread();

// A piece of work was given to a device: a record of it, where its kind is enabled.
void Record(const struct Work& work);

}  // namespace pgle::fake

#define PGLE_CUPTI extern "C" __attribute__((visibility("default"))) int
