#include "random_program.h"

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace pgle::fake {
namespace {

constexpr size_t kDeepest = 40;

class RandomProgram {
 public:
  RandomProgram(Actor* actor, uint64_t seed, int devices)
      : actor_(actor), random_(seed), devices_(devices) {}

  void Operation() {
    switch (Below(18)) {
      case 0:
      case 1:
      case 2:
      case 3:
        Push();
        break;
      case 4:
      case 5:
      case 6:
      case 7:
        Pop();
        break;
      case 8:
        Nccl();
        break;
      case 9:
        actor_->CopyOnDevice();
        break;
      case 10:
        actor_->Set();
        break;
      case 11:
        actor_->CopyToPeer(Below(devices_));
        break;
      case 12:
        Build();
        break;
      case 13:
        Derive();
        break;
      case 14:
        Instantiate();
        break;
      case 15:
        LaunchGraph();
        break;
      case 16:
        Capture();
        break;
      default:
        actor_->Kernel("kernel_" + std::to_string(Below(9)), 1000, Below(2) == 0);
        break;
    }
  }

  void Finish() {
    while (actor_->depth() > 0) actor_->Pop();
    while (nccl_depth_ > 0) actor_->PopNccl(), --nccl_depth_;
    actor_->Kernel("after_all", 1000);
    actor_->Synchronize();
  }

 private:
  int Below(int limit) { return std::uniform_int_distribution(0, limit - 1)(random_); }

  std::string Text() {
    const std::string number = std::to_string(Below(6));
    switch (Below(6)) {
      case 0:
        return "XlaModule:#hlo_module=jit_random_" + number + ",program_id=" + number + "#";
      case 1:
        return Below(4) == 0 ? "XlaCompile:#module=jit_random_" + number + "#" : "other";
      default:
        return "Thunk:#hlo_op=fusion." + number + "#";
    }
  }

  void Push() {
    if (actor_->depth() >= kDeepest) return;
    Below(4) == 0 ? actor_->PushPlain(Text()) : actor_->Push(Text());
  }

  // Also where nothing is open: programs whose ranges began before the recorder was loaded do that.
  void Pop() { actor_->Pop(); }

  // Ranges of another domain open and close at any point between XLA's.
  void Nccl() {
    if (nccl_depth_ > 0 && Below(2) == 0) {
      actor_->PopNccl();
      --nccl_depth_;
    } else if (nccl_depth_ < 8) {
      actor_->PushNccl("Thunk:#hlo_op=not_xla#");
      ++nccl_depth_;
    }
  }

  void Build() {
    ModelGraph graph = actor_->NewGraph();
    for (int i = Below(4); i >= 0; --i) {
      Range range(actor_, Text());
      Below(3) == 0 ? actor_->AddSet(&graph) : actor_->AddKernel(&graph, "node", 1000);
    }
    graphs_.push_back(std::move(graph));
  }

  void Derive() {
    if (graphs_.empty()) return;
    const int from = Below(int(graphs_.size()));
    if (Below(2) == 0) {
      graphs_.push_back(actor_->Clone(graphs_[from]));
      // A node that is made right behind the announcement of a copy looks like a child graph.
      execs_.push_back(actor_->Instantiate(graphs_.back()));
    } else {
      const int to = Below(int(graphs_.size()));
      // How nodes of children of children are named in records is not known.
      if (to == from || graphs_[from].has_children) return;
      if (graphs_[to].leaves.size() + graphs_[from].leaves.size() > 40) return;
      actor_->AddChild(&graphs_[to], graphs_[from]);
    }
  }

  void Capture() {
    Range range(actor_, Text());
    actor_->BeginCapture();
    for (int i = Below(3); i >= 0; --i) actor_->Kernel("captured", 1000);
    graphs_.push_back(actor_->EndCapture());
  }

  void Instantiate() {
    if (!graphs_.empty()) {
      execs_.push_back(actor_->Instantiate(graphs_[Below(int(graphs_.size()))]));
    }
  }

  void LaunchGraph() {
    if (!execs_.empty()) actor_->Launch(execs_[Below(int(execs_.size()))]);
  }

  Actor* actor_;
  std::mt19937_64 random_;
  int devices_;
  int nccl_depth_ = 0;
  std::vector<ModelGraph> graphs_;
  std::vector<ModelExec> execs_;
};

}  // namespace

void RunRandomProgram(Actor* actor, uint64_t seed, int operations, int devices, int pause_ms) {
  RandomProgram program(actor, seed, devices);
  for (int i = 0; i < operations / 2; ++i) program.Operation();
  std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  for (int i = operations / 2; i < operations; ++i) program.Operation();
  program.Finish();
}

}  // namespace pgle::fake
