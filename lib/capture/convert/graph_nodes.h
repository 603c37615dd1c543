// Which stack of ranges made a node of a CUDA graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace pgle {

// XLA records a command buffer as a graph, each node inside the range of its op, and instantiates
// it: the nodes of the executable graph, which activity records name, are copies. A library call
// (cuBLAS, cuDNN) is a graph of its own that becomes a child. The nodes of children are announced
// inside their own copies only, but recorded under the executable graph: numbered on behind its own
// nodes, child by child in the order of the child nodes, and in each in the order of its nodes.
// (CUPTI 13.0 update 1, driver 580; found by comparing the order in time of such kernels with that
// of the graph's nodes.) Children of children are not known to be numbered so, and stay unknown.
class GraphNodes {
 public:
  struct Maker {
    uint32_t range = 0;  // the stack of ranges; 0 when unknown
    uint32_t thread = 0, scope = 0;
  };

  // In each thread's order of events. A copy is announced as made, then as copied.
  void AddCreated(uint32_t thread, uint64_t node, const Maker& maker);
  void AddCloned(uint32_t thread, uint64_t node, uint64_t original);
  void Finish();  // after the last Add

  Maker MakerOf(uint64_t node) const;

 private:
  struct Node {
    uint64_t original = 0;  // 0: no copy
    Maker maker;
    uint32_t child = 0;  // the graph that is the node's child, as it was copied for it
  };
  struct Graph {
    std::vector<uint32_t> nodes;  // numbers of its nodes, as announced
    uint32_t origin = 0;          // the graph it is a copy of
    bool is_copied = false;
  };
  struct Thread {
    uint64_t last_node = 0;
    bool last_is_clone = false;
    uint32_t clone_before = 0;  // the graph of the clone that was announced right before last_node
  };

  uint32_t ChildOf(uint64_t node) const;
  void NumberChildren(uint32_t graph);

  std::unordered_map<uint64_t, Node> nodes_;
  std::unordered_map<uint32_t, Graph> graphs_;
  std::vector<Thread> threads_;
  size_t most_nodes_ = 0;
};

}  // namespace pgle
