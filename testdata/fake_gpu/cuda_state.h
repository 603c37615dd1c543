// What the fake driver keeps: objects behind handles, and the tool that watches it.
// Objects are never freed: records that name them may come late, and programs are short.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_api.h"
#include "tool_hooks.h"

namespace pgle::fake {

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kInvalidValue = 1;
inline constexpr CUresult kNotInitialized = 3;
inline constexpr CUresult kInvalidDevice = 101;
inline constexpr CUresult kInvalidContext = 201;
inline constexpr CUresult kNotFound = 500;

struct Function {
  std::string name;
  uint64_t nanoseconds = 0;
};

struct Stream {
  Context* context = nullptr;
  uint32_t id = 0;
  std::mutex mutex;
  uint64_t busy_until = 0;
  Graph* captured = nullptr;  // launches become nodes of it
};

struct Context {
  CUdevice device = 0;
  uint32_t id = 0;
  Stream default_stream;
  std::mutex mutex;
  std::vector<Stream*> streams;
};

// A node of type kGraphNode holds a graph of its own; the others are one piece of work.
inline constexpr int kKernelNode = 0, kCopyNode = 1, kSetNode = 2, kGraphNode = 4;

struct Node {
  uint64_t id = 0;
  int type = kKernelNode;
  Work work;
  uint64_t nanoseconds = 0;
  Graph* child = nullptr;
};

struct Graph {
  uint32_t id = 0;
  std::vector<Node*> nodes;
};

struct GraphExec {
  struct Step {
    const Node* node;
    uint64_t id;  // in records
  };
  Graph* graph = nullptr;  // a copy of the one it was made of
  std::vector<Step> steps;
};

uint64_t Now();  // nanoseconds of CLOCK_REALTIME
int DeviceCount();
bool IsInitialized();
// The calling thread's; null before cuCtxSetCurrent.
Context* CurrentContext();
Stream* StreamOrDefault(CUstream stream);
uint32_t NextCorrelation();
const ToolHooks* Tool();
void Tell(ResourceEvent event, const Resource& resource);

// A driver call as a tool sees it: entered when made, left at the end of the scope.
class ToolCall {
 public:
  ToolCall(DriverCallback callback, const char* name, const void* parameters = nullptr);
  ~ToolCall();
  ToolCall(const ToolCall&) = delete;
  ToolCall& operator=(const ToolCall&) = delete;
  uint32_t correlation() const { return call_.correlation; }

 private:
  DriverCall call_;
  const ToolHooks* tool_;
};

// Puts work on the stream, after all that stands there: fills in its times and place, and tells the
// tool. While the stream is captured it becomes a node of the graph instead.
void Give(Stream* stream, Work work, uint64_t nanoseconds, uint32_t correlation);

Node* AddNode(Graph* graph, int type, const Work& work, uint64_t nanoseconds);

}  // namespace pgle::fake
