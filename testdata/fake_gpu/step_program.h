// What the fake program computes: the modules of a training run, as XLA's thunks and command
// buffers give them to a device.
#pragma once

#include <string>
#include <vector>

#include "actor.h"
#include "options.h"

namespace pgle::fake {

class StepProgram {
 public:
  // `suffix`: of the names of its modules. The training step is jit_train_step.
  StepProgram(Actor* actor, const Options& options, const std::string& suffix, int program_id);

  // What JAX does before the first step: autotuning under XlaCompile ranges, which also runs whole
  // modules, and a module that makes the parameters.
  void Compile();
  void Initialize();
  void Step(int number);

 private:
  std::string Module(const std::string& name, int program_id) const;
  std::string Thunk(const std::string& op) const;
  void Layers();
  void Loop();
  void Collectives();
  void CommandBuffer(int number);
  ModelGraph BuildGraph();
  void Evaluate();

  Actor* actor_;
  const Options& options_;
  std::string suffix_, name_;
  int program_id_;
  std::vector<ModelExec> execs_;
};

}  // namespace pgle::fake
