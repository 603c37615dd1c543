#include "step_program.h"

#include <chrono>
#include <functional>
#include <thread>

namespace pgle::fake {
namespace {

constexpr uint64_t kKernelTime = 5000;

}  // namespace

StepProgram::StepProgram(Actor* actor, const Options& options, const std::string& suffix,
                         int program_id)
    : actor_(actor),
      options_(options),
      suffix_(suffix),
      name_("jit_train_step" + suffix),
      program_id_(program_id) {}

std::string StepProgram::Module(const std::string& name, int program_id) const {
  return "XlaModule:#prefix=" + name + "/main,hlo_module=" + name +
         ",program_id=" + std::to_string(program_id) + "#";
}

std::string StepProgram::Thunk(const std::string& op) const {
  const size_t id = std::hash<std::string>()(name_ + op) % 1000000007;
  return "Thunk:#name=" + name_ + "(" + op + ",x),hlo_op=" + op +
         ",unique_hlo_op_id=" + std::to_string(id) + "#";
}

void StepProgram::Compile() {
  Range compile(actor_,
                "XlaCompile:#module=" + name_ + ",program_id=" + std::to_string(program_id_) + "#");
  Range backend(actor_, "XlaCompileBackend:#module=" + name_ + "#");
  for (int i = 0; i < 5; ++i) actor_->Kernel("autotune_candidate", kKernelTime);
  std::this_thread::sleep_for(std::chrono::milliseconds(options_.compile_ms));
  Range module(actor_, Module("autotuned_fusion", 9000 + program_id_));
  Range thunk(actor_, Thunk("gemm_fusion_dot.0"));
  actor_->Kernel("gemm_fusion_dot_0", kKernelTime);
}

void StepProgram::Initialize() {
  Range module(actor_, Module("jit_init" + suffix_, 1));
  Range thunk(actor_, Thunk("rng_fusion"));
  actor_->Kernel("rng_fusion", kKernelTime);
  actor_->Set();
}

void StepProgram::Layers() {
  for (int layer = 0; layer < options_.layers; ++layer) {
    const std::string op = "gemm_fusion_dot." + std::to_string(layer);
    Range thunk(actor_, Thunk(op));
    actor_->Kernel("gemm_fusion_dot_" + std::to_string(layer), kKernelTime);
    actor_->Kernel("splitKreduce_kernel", kKernelTime, /*extended=*/true);
  }
}

void StepProgram::Loop() {
  Range loop(actor_, Thunk("while.7"));
  for (int i = 0; i < 3; ++i) {
    {
      Range body(actor_, Thunk("loop_multiply_fusion.2"));
      actor_->Kernel("loop_multiply_fusion_2", kKernelTime);
    }
    Range condition(actor_, Thunk("compare.5"));
    actor_->CopyToHost();
  }
}

void StepProgram::Collectives() {
  {
    Range thunk(actor_, Thunk("all-reduce-start.1"));
    actor_->PushNccl("ncclAllReduce");
    actor_->Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 2 * kKernelTime, true);
    actor_->PopNccl();
  }
  {
    Range thunk(actor_, Thunk("collective-permute-start.2"));
    actor_->CopyToPeer((actor_->device() + 1) % options_.devices);
  }
  {
    Range thunk(actor_, Thunk("copy.3"));
    actor_->CopyOnDevice();
  }
  Range thunk(actor_, Thunk("broadcast.9"));
  actor_->Set();
}

ModelGraph StepProgram::BuildGraph() {
  ModelGraph graph = actor_->NewGraph();
  for (int i = 11; i < 11 + options_.layers; ++i) {
    const std::string number = std::to_string(i);
    Range command(actor_, Thunk("loop_add_fusion." + number));
    actor_->AddKernel(&graph, "loop_add_fusion_" + number, kKernelTime);
  }
  {
    // A library's kernels are captured from a stream, and become a graph inside the graph.
    Range command(actor_, Thunk("cublas-gemm.4"));
    actor_->BeginCapture();
    actor_->Kernel("nvjet_tst_128x128", kKernelTime);
    actor_->Set();
    actor_->AddChild(&graph, actor_->EndCapture());
  }
  {
    Range command(actor_, Thunk("conditional.6"));
    ModelGraph branch = actor_->NewGraph();
    {
      Range inside(actor_, Thunk("loop_tanh_fusion.8"));
      actor_->AddKernel(&branch, "loop_tanh_fusion_8", kKernelTime);
    }
    actor_->AddKernel(&branch, "select_branch", kKernelTime);
    actor_->AddChild(&graph, branch);
  }
  Range command(actor_, Thunk("memset.10"));
  actor_->AddSet(&graph);
  return graph;
}

void StepProgram::CommandBuffer(int number) {
  Range thunk(actor_, Thunk("command_buffer.1"));
  // As XLA does when buffers move: a graph is built again now and then.
  if (execs_.empty() || number % 16 == 15) {
    const ModelGraph graph = BuildGraph();
    execs_ = {actor_->Instantiate(graph), actor_->Instantiate(actor_->Clone(graph))};
  }
  actor_->Launch(execs_[number % 2]);
}

void StepProgram::Evaluate() {
  Range module(actor_, Module("jit_eval" + suffix_, 3));
  Range thunk(actor_, Thunk("loss_fusion"));
  actor_->Kernel("loss_fusion", kKernelTime);
}

void StepProgram::Step(int number) {
  actor_->CopyToDevice();  // the next batch: of no module
  {
    Range module(actor_, Module(name_, program_id_));
    Layers();
    Loop();
    Collectives();
    if (options_.graphs) CommandBuffer(number);
  }
  if (number % 5 == 4) Evaluate();
  actor_->CopyToHost();
}

}  // namespace pgle::fake
