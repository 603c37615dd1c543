// One thread of the fake program with its device: emits ranges, gives the device work, and keeps
// what the truth is about it.
#pragma once

#include <string>
#include <vector>

#include "cuda_api.h"
#include "truth.h"

namespace pgle::fake {

// A graph of the driver's, and what is known of its nodes.
struct ModelGraph {
  struct Leaf {
    uint32_t serial;
    Given given;
    std::string stack;
  };
  CUgraph graph = nullptr;
  std::vector<Leaf> leaves;  // in order, those of child graphs among them
  bool has_children = false;
};

struct ModelExec {
  CUgraphExec exec = nullptr;
  std::vector<ModelGraph::Leaf> leaves;
};

class Actor {
 public:
  Actor(TruthFile* truth, uint32_t thread, int device);

  // XLA's ranges. A text that starts with XlaModule begins an execution, where none is open.
  void Push(const std::string& text);
  void PushPlain(const std::string& text);  // not as a registered string
  void Pop();
  size_t depth() const { return ranges_.size(); }
  // A range of another domain: no part of the truth.
  void PushNccl(const std::string& text);
  void PopNccl();

  void Kernel(const std::string& name, uint64_t nanoseconds, bool extended = false);
  void CopyToDevice();
  void CopyOnDevice();
  void CopyToHost();
  void CopyToPeer(int device);
  void Set();
  void Synchronize();

  ModelGraph NewGraph();
  void AddKernel(ModelGraph* graph, const std::string& name, uint64_t nanoseconds);
  void AddSet(ModelGraph* graph);
  void AddChild(ModelGraph* graph, const ModelGraph& child);
  ModelGraph Clone(const ModelGraph& graph);
  ModelExec Instantiate(const ModelGraph& graph);
  void Launch(const ModelExec& exec);
  // What is launched between the two becomes nodes of the graph.
  void BeginCapture();
  ModelGraph EndCapture();

  void WriteTruth();  // of what was launched since the last call
  int device() const { return device_; }

 private:
  uint32_t Serial();  // of what is launched next
  // Notes something given to the device, or to the graph that is being captured.
  void Note(uint32_t serial, Given given);
  uint32_t Scope() const { return scopes_.empty() ? 0 : scopes_.back(); }
  std::string Stack() const { return Join(ranges_); }
  void Pushed(const std::string& text);

  TruthFile* truth_;
  uint32_t thread_;
  int device_;
  CUcontext context_ = nullptr;
  CUstream stream_ = nullptr;
  bool captures_ = false;
  std::vector<ModelGraph::Leaf> captured_;
  std::vector<std::string> ranges_;
  std::vector<uint32_t> scopes_;  // the number of each range's push
  uint32_t pushes_ = 0;
  Execution execution_;
  size_t execution_depth_ = 0;
  uint64_t called_ = 0;
  std::string lines_;
};

class Range {
 public:
  Range(Actor* actor, const std::string& text) : actor_(actor) { actor->Push(text); }
  ~Range() { actor_->Pop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  Actor* actor_;
};

}  // namespace pgle::fake
