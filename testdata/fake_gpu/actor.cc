#include "actor.h"

#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "annotations.h"

namespace pgle::fake {
namespace {

uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

void Check(CUresult result, const char* what) {
  if (result == 0) return;
  fprintf(stderr, "fake_xla: %s returned %d\n", what, result);
  abort();
}

}  // namespace

Actor::Actor(TruthFile* truth, uint32_t thread, int device)
    : truth_(truth), thread_(thread), device_(device) {
  Check(cuDevicePrimaryCtxRetain(&context_, device), "cuDevicePrimaryCtxRetain");
  Check(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  Check(cuStreamCreate(&stream_, 0), "cuStreamCreate");
}

void Actor::Pushed(const std::string& text) {
  ranges_.push_back(text);
  scopes_.push_back(++pushes_);
  if (execution_.text.empty() && text.rfind("XlaModule:", 0) == 0) {
    execution_ = {text, truth_->NextExecution(text, device_)};
    execution_depth_ = ranges_.size();
  }
}

void Actor::Push(const std::string& text) {
  Pushed(text);
  fakeXlaPush(text.c_str());
}

void Actor::PushPlain(const std::string& text) {
  Pushed(text);
  fakeXlaPushPlain(text.c_str());
}

void Actor::Pop() {
  fakeXlaPop();
  if (ranges_.size() == execution_depth_) execution_ = {}, execution_depth_ = 0;
  if (ranges_.empty()) return;
  ranges_.pop_back();
  scopes_.pop_back();
}

void Actor::PushNccl(const std::string& text) {
  fakeNcclPush(text.c_str());
}
void Actor::PopNccl() {
  fakeNcclPop();
}

uint32_t Actor::Serial() {
  called_ = Now();
  return truth_->NextSerial();
}

void Actor::Note(uint32_t serial, Given given) {
  if (captures_) {
    captured_.push_back({serial, given, Stack()});
  } else {
    lines_ += TruthLine(
        {serial, given, false, device_, called_, Now(), Stack(), execution_, Scope()}, thread_);
  }
}

void Actor::Kernel(const std::string& name, uint64_t nanoseconds, bool extended) {
  const uint32_t serial = Serial();
  const CUfunction function = fakeFunction(name.c_str(), nanoseconds);
  if (extended) {
    const CUlaunchConfig config = {serial, 1, 1, 128, 1, 1, 0, stream_, nullptr, 0};
    Check(cuLaunchKernelEx(&config, function, nullptr, nullptr), "cuLaunchKernelEx");
  } else {
    Check(cuLaunchKernel(function, serial, 1, 1, 256, 1, 1, 1024, stream_, nullptr, nullptr),
          "cuLaunchKernel");
  }
  Note(serial, Given::kKernel);
}

void Actor::CopyToDevice() {
  const uint32_t serial = Serial();
  Check(cuMemcpyHtoDAsync_v2(0, nullptr, serial, stream_), "cuMemcpyHtoDAsync_v2");
  Note(serial, Given::kCopy);
}

void Actor::CopyOnDevice() {
  const uint32_t serial = Serial();
  Check(serial % 2 ? cuMemcpyDtoDAsync_v2(0, 0, serial, stream_)
                   : cuMemcpyAsync(0, 0, serial, stream_),
        "cuMemcpyDtoDAsync_v2");
  Note(serial, Given::kCopy);
}

void Actor::CopyToHost() {
  const uint32_t serial = Serial();
  Check(cuMemcpyDtoHAsync_v2(nullptr, 0, serial, stream_), "cuMemcpyDtoHAsync_v2");
  Note(serial, Given::kCopy);
}

void Actor::CopyToPeer(int device) {
  const uint32_t serial = Serial();
  CUcontext to;
  Check(cuDevicePrimaryCtxRetain(&to, device), "cuDevicePrimaryCtxRetain");
  Check(cuMemcpyPeerAsync(0, to, 0, context_, serial, stream_), "cuMemcpyPeerAsync");
  Note(serial, Given::kCopy);
}

void Actor::Set() {
  const uint32_t serial = Serial();
  Check(cuMemsetD32Async(0, serial, 16, stream_), "cuMemsetD32Async");
  Note(serial, Given::kSet);
}

void Actor::Synchronize() {
  Check(cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

ModelGraph Actor::NewGraph() {
  ModelGraph graph;
  Check(cuGraphCreate(&graph.graph, 0), "cuGraphCreate");
  return graph;
}

void Actor::AddKernel(ModelGraph* graph, const std::string& name, uint64_t nanoseconds) {
  const uint32_t serial = Serial();
  const CUDA_KERNEL_NODE_PARAMS parameters = {
      fakeFunction(name.c_str(), nanoseconds), serial, 1, 1, 64, 1, 1, 0, nullptr, nullptr};
  CUgraphNode node;
  Check(cuGraphAddKernelNode(&node, graph->graph, nullptr, 0, &parameters), "cuGraphAddKernelNode");
  graph->leaves.push_back({serial, Given::kKernel, Stack()});
}

void Actor::AddSet(ModelGraph* graph) {
  const uint32_t serial = Serial();
  const CUDA_MEMSET_NODE_PARAMS parameters = {0, 0, serial, 4, 16, 1};
  CUgraphNode node;
  Check(cuGraphAddMemsetNode(&node, graph->graph, nullptr, 0, &parameters, context_),
        "cuGraphAddMemsetNode");
  graph->leaves.push_back({serial, Given::kSet, Stack()});
}

void Actor::AddChild(ModelGraph* graph, const ModelGraph& child) {
  CUgraphNode node;
  Check(cuGraphAddChildGraphNode(&node, graph->graph, nullptr, 0, child.graph),
        "cuGraphAddChildGraphNode");
  graph->has_children = true;
  graph->leaves.insert(graph->leaves.end(), child.leaves.begin(), child.leaves.end());
}

ModelGraph Actor::Clone(const ModelGraph& graph) {
  ModelGraph clone{nullptr, graph.leaves, graph.has_children};
  Check(cuGraphClone(&clone.graph, graph.graph), "cuGraphClone");
  return clone;
}

ModelExec Actor::Instantiate(const ModelGraph& graph) {
  ModelExec exec{nullptr, graph.leaves};
  Check(cuGraphInstantiateWithFlags(&exec.exec, graph.graph, 0), "cuGraphInstantiateWithFlags");
  return exec;
}

void Actor::Launch(const ModelExec& exec) {
  called_ = Now();
  Check(cuGraphLaunch(exec.exec, stream_), "cuGraphLaunch");
  for (const auto& leaf : exec.leaves) {
    lines_ += TruthLine(
        {leaf.serial, leaf.given, true, device_, called_, Now(), leaf.stack, execution_, Scope()},
        thread_);
  }
}

void Actor::BeginCapture() {
  Check(cuStreamBeginCapture_v2(stream_, 0), "cuStreamBeginCapture_v2");
  captures_ = true;
}

ModelGraph Actor::EndCapture() {
  ModelGraph graph;
  Check(cuStreamEndCapture(stream_, &graph.graph), "cuStreamEndCapture");
  graph.leaves.swap(captured_);
  captures_ = false;
  return graph;
}

void Actor::WriteTruth() {
  truth_->Write(lines_);
  lines_.clear();
}

}  // namespace pgle::fake
