#include "capture/convert/graph_nodes.h"

#include <algorithm>

namespace pgle {
namespace {

constexpr int kLongestChain = 64;  // of copies; beyond it they form a ring: damage

// Nodes of children that are numbered, for each node that was announced. Each has been announced
// once for every copy; many more are damage: one child that is the child of every node.
constexpr size_t kMostNumbered = 8;

// A node's id is its graph's and its number in it (CUPTI: cuptiGetGraphNodeId).
uint32_t GraphOf(uint64_t node) {
  return static_cast<uint32_t>(node >> 32);
}
uint64_t NodeOf(uint32_t graph, uint32_t number) {
  return static_cast<uint64_t>(graph) << 32 | number;
}

}  // namespace

void GraphNodes::AddCreated(uint32_t thread, uint64_t node, const Maker& maker) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  Thread& state = threads_[thread];
  const auto [it, added] = nodes_.try_emplace(node);
  if (added) graphs_[GraphOf(node)].nodes.push_back(static_cast<uint32_t>(node));
  it->second.maker = maker;
  // A graph that was copied right before is the child of this node, if this one is no copy itself:
  // the next event tells.
  const bool follows_clone = state.last_is_clone && GraphOf(state.last_node) != GraphOf(node);
  state.clone_before = follows_clone ? GraphOf(state.last_node) : 0;
  it->second.child = state.clone_before;
  state.last_node = node;
  state.last_is_clone = false;
}

void GraphNodes::AddCloned(uint32_t thread, uint64_t node, uint64_t original) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  const auto [it, added] = nodes_.try_emplace(node);
  if (added) graphs_[GraphOf(node)].nodes.push_back(static_cast<uint32_t>(node));
  it->second.original = original;
  it->second.child = 0;
  graphs_[GraphOf(node)].origin = GraphOf(original);
  graphs_[GraphOf(original)].is_copied = true;
  threads_[thread].last_node = node;
  threads_[thread].last_is_clone = true;
}

uint32_t GraphNodes::ChildOf(uint64_t node) const {
  for (int i = 0; i < kLongestChain; ++i) {
    const auto it = nodes_.find(node);
    if (it == nodes_.end()) return 0;
    if (it->second.child != 0) {
      // Of a child the copy that was made for the node is copied again with it.
      const auto child = graphs_.find(it->second.child);
      return child != graphs_.end() && child->second.is_copied ? it->second.child : 0;
    }
    node = it->second.original;
  }
  return 0;
}

// Gives the nodes of a graph's children their numbers in it, up to a child that has children
// itself.
void GraphNodes::NumberChildren(uint32_t graph) {
  std::vector<uint32_t> own;
  for (const uint32_t number : graphs_[graph].nodes) {
    const auto it = nodes_.find(NodeOf(graph, number));
    if (it != nodes_.end() && it->second.original != 0) own.push_back(number);
  }
  if (own.empty()) return;
  std::sort(own.begin(), own.end());
  uint32_t next = own.back() + 1;
  for (const uint32_t number : own) {
    const uint32_t child = ChildOf(NodeOf(graph, number));
    if (child == 0) continue;
    std::vector<uint32_t> inner = graphs_[child].nodes;
    std::sort(inner.begin(), inner.end());
    for (const uint32_t at : inner) {
      if (ChildOf(NodeOf(child, at)) != 0) return;
    }
    for (const uint32_t at : inner) {
      Node node;
      node.original = NodeOf(child, at);
      if (nodes_.size() >= most_nodes_) return;
      // What CUPTI announced under such a number by itself says no more than who instantiated the
      // graph.
      nodes_[NodeOf(graph, next++)] = node;
    }
  }
}

void GraphNodes::Finish() {
  std::vector<uint32_t> copies;
  for (const auto& [graph, state] : graphs_) {
    if (state.origin != 0) copies.push_back(graph);
  }
  std::sort(copies.begin(), copies.end());
  most_nodes_ = nodes_.size() * kMostNumbered;
  for (const uint32_t graph : copies) NumberChildren(graph);
}

GraphNodes::Maker GraphNodes::MakerOf(uint64_t node) const {
  Maker maker;
  for (int i = 0; node != 0 && i < kLongestChain; ++i) {
    const auto it = nodes_.find(node);
    if (it == nodes_.end()) break;
    if (it->second.maker.range != 0) maker = it->second.maker;
    node = it->second.original;
  }
  return maker;
}

}  // namespace pgle
