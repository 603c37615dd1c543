// Graphs of the fake driver. Every node of every copy has an id of its own, as on GPUs, and a tool
// learns of copies (clones, child graphs, executable graphs) by two events for each node: that it
// was created, and what it is a copy of. What runs is named as CUPTI 13.0 does on GPUs: nodes of
// child graphs by ids that were never announced, numbered on behind the executable graph's own.
// With FAKE_CUDA_CHILD_NODES=own by those that were announced.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "cuda_state.h"

namespace pgle::fake {
namespace {

std::atomic<uint32_t> next_graph{1};

Graph* NewGraph() {
  auto* graph = new Graph;
  graph->id = next_graph.fetch_add(1);
  return graph;
}

uint64_t NewNodeId(const Graph& graph) {
  return (uint64_t{graph.id} << 32) + graph.nodes.size() + 1;
}

Graph* Copy(Graph* original, GraphExec* exec) {
  Graph* copy = NewGraph();
  for (Node* from : original->nodes) {
    auto* node = new Node(*from);
    node->id = NewNodeId(*copy);
    copy->nodes.push_back(node);
    const Resource created = {.context = CurrentContext(),
                              .graph = copy,
                              .node = node,
                              .node_type = node->type,
                              .exec = exec};
    Tell(kNodeCreateStarting, created);
    Tell(kNodeCreated, created);
    Tell(kNodeCloned, {.context = CurrentContext(),
                       .graph = copy,
                       .original_graph = original,
                       .node = node,
                       .original_node = from,
                       .node_type = node->type,
                       .exec = exec});
    if (from->child) node->child = Copy(from->child, exec);
  }
  return copy;
}

bool AreChildrenNumberedOn() {
  const char* text = getenv("FAKE_CUDA_CHILD_NODES");
  return !text || strcmp(text, "own") != 0;
}

// Appends what runs of `graph`; `next`: the number of the next node of a child graph.
void Flatten(const Graph& graph, const Graph& top, uint32_t* next, GraphExec* exec) {
  static const bool numbered_on = AreChildrenNumberedOn();
  for (const Node* node : graph.nodes) {
    uint64_t id = node->id;
    if (numbered_on && &graph != &top) id = (uint64_t{top.id} << 32) + (*next)++;
    if (node->child) {
      Flatten(*node->child, top, next, exec);
    } else {
      exec->steps.push_back({node, id});
    }
  }
}

}  // namespace

Node* AddNode(Graph* graph, int type, const Work& work, uint64_t nanoseconds) {
  Tell(kNodeCreateStarting, {.context = CurrentContext(), .graph = graph, .node_type = type});
  auto* node = new Node;
  node->id = NewNodeId(*graph);
  node->type = type;
  node->work = work;
  node->nanoseconds = nanoseconds;
  graph->nodes.push_back(node);
  Tell(kNodeCreated,
       {.context = CurrentContext(), .graph = graph, .node = node, .node_type = type});
  return node;
}

}  // namespace pgle::fake

using namespace pgle::fake;

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  ToolCall call(kCuGraphCreate, "cuGraphCreate");
  *graph = NewGraph();
  Tell(kGraphCreated, {.context = CurrentContext(), .graph = *graph});
  return kSuccess;
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_KERNEL_NODE_PARAMS* parameters) {
  ToolCall call(kCuGraphAddKernelNode, "cuGraphAddKernelNode");
  Work work;
  work.name = parameters->function->name.c_str();
  work.grid[0] = parameters->grid_x;
  work.grid[1] = parameters->grid_y;
  work.grid[2] = parameters->grid_z;
  work.block[0] = parameters->block_x;
  work.block[1] = parameters->block_y;
  work.block[2] = parameters->block_z;
  work.shared_bytes = parameters->shared_bytes;
  *node = AddNode(graph, kKernelNode, work, parameters->function->nanoseconds);
  return kSuccess;
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  ToolCall call(kCuGraphAddMemsetNode, "cuGraphAddMemsetNode");
  Work work;
  work.kind = WorkKind::kSet;
  work.value = parameters->value;
  work.bytes = parameters->element_size * parameters->width;
  *node = AddNode(graph, kSetNode, work, 1000);
  return kSuccess;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode*, size_t,
                                  CUgraph child) {
  ToolCall call(kCuGraphAddChildGraphNode, "cuGraphAddChildGraphNode");
  Graph* copy = Copy(child, nullptr);
  *node = AddNode(graph, kGraphNode, {}, 0);
  (*node)->child = copy;
  return kSuccess;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  ToolCall call(kCuGraphClone, "cuGraphClone");
  *clone = Copy(original, nullptr);
  Tell(kGraphCloned, {.context = CurrentContext(), .graph = *clone, .original_graph = original});
  return kSuccess;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  ToolCall call(kCuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  Tell(kExecCreateStarting, {.context = CurrentContext(), .graph = graph});
  auto* made = new GraphExec;
  made->graph = Copy(graph, made);
  uint32_t next = uint32_t(made->graph->nodes.size()) + 1;
  Flatten(*made->graph, *made->graph, &next, made);
  Tell(kExecCreated, {.context = CurrentContext(), .graph = graph, .exec = made});
  *exec = made;
  return kSuccess;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  ToolCall call(kCuGraphLaunch, "cuGraphLaunch");
  Stream* on = StreamOrDefault(stream);
  if (!on) return kInvalidContext;
  for (const GraphExec::Step& step : exec->steps) {
    Work work = step.node->work;
    work.node = step.id;
    work.graph = exec->graph->id;
    Give(on, work, step.node->nanoseconds, call.correlation());
  }
  return kSuccess;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  Tell(kExecDestroyStarting, {.context = CurrentContext(), .exec = exec});
  return kSuccess;
}

CUresult cuGraphDestroy(CUgraph graph) {
  for (Node* node : graph->nodes) {
    Tell(kNodeDestroyStarting,
         {.context = CurrentContext(), .graph = graph, .node = node, .node_type = node->type});
  }
  Tell(kGraphDestroyStarting, {.context = CurrentContext(), .graph = graph});
  return kSuccess;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  Graph* graph = nullptr;
  cuGraphCreate(&graph, 0);
  std::lock_guard lock(stream->mutex);
  stream->captured = graph;
  return kSuccess;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  std::lock_guard lock(stream->mutex);
  *graph = stream->captured;
  stream->captured = nullptr;
  return kSuccess;
}

uint64_t fakeDriverNodeId(CUgraphNode node) {
  return node->id;
}
uint32_t fakeDriverGraphId(CUgraph graph) {
  return graph->id;
}
uint32_t fakeDriverExecId(CUgraphExec exec) {
  return exec->graph->id;
}
