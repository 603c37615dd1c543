// A program that looks like a training run of JAX on GPUs to what watches it.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "options.h"
#include "random_program.h"
#include "step_program.h"

extern char** environ;

namespace pgle::fake {
namespace {

using Clock = std::chrono::steady_clock;

void SleepMs(double ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

// As Python's multiprocessing does: the child inherits the recorder and leaves by exit().
void Fork(Actor* actor) {
  const pid_t child = fork();
  if (child == 0) {
    actor->Push("XlaModule:#hlo_module=jit_child,program_id=77#");
    actor->Pop();
    SleepMs(50);
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) {
    fprintf(stderr, "fake_xla: the forked child ended with status %d\n", status);
    exit(1);
  }
}

void Train(Actor* actor, const Options& options, uint32_t thread, std::barrier<>* together) {
  const bool is_alone = options.threads == options.devices;
  StepProgram program(actor, options, is_alone ? "" : "_" + std::to_string(thread),
                      is_alone ? 2 : int(100 + thread));
  if (thread == 0) program.Compile();
  program.Initialize();
  for (int step = 0; step < options.steps; ++step) {
    together->arrive_and_wait();
    const auto end = Clock::now() + std::chrono::duration<double, std::milli>(options.step_ms);
    if (thread == 0) {
      if (step == options.recompile_at) program.Compile();
      if (step == options.profile_first) cuProfilerStart();
      if (step == options.fork_at) Fork(actor);
    }
    program.Step(step);
    actor->Synchronize();
    if (thread == 0 && step + 1 == options.profile_last) cuProfilerStop();
    actor->WriteTruth();
    std::this_thread::sleep_until(std::chrono::time_point_cast<Clock::duration>(end));
  }
}

int Spawn(int argc, char** argv) {
  std::vector<char*> arguments;
  for (int i = 0; i < argc; ++i) {
    if (strcmp(argv[i], "--spawn") == 0) {
      ++i;
    } else {
      arguments.push_back(argv[i]);
    }
  }
  arguments.push_back(nullptr);
  pid_t child;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environ) != 0) {
    return 1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int Run(int argc, char** argv) {
  const Options options = ParseOptions(argc, argv);
  if (!options.cupti.empty() && !dlopen(options.cupti.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    fprintf(stderr, "fake_xla: %s\n", dlerror());
    return 1;
  }
  int file = STDOUT_FILENO;
  if (!options.truth.empty()) {
    file = open(options.truth.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) {
      perror(options.truth.c_str());
      return 1;
    }
  }
  // Enough devices, whatever the environment says.
  setenv("FAKE_CUDA_DEVICES", std::to_string(options.devices).c_str(), 1);
  if (cuInit(0) != 0) return 1;
  TruthFile truth(file);
  std::barrier<> together(options.threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) {
    threads.emplace_back([&, i] {
      Actor actor(&truth, uint32_t(i), i % options.devices);
      if (options.random >= 0) {
        RunRandomProgram(&actor, uint64_t(options.random) * 1000 + uint64_t(i), options.operations,
                         options.devices, options.pause_ms);
        actor.WriteTruth();
      } else {
        Train(&actor, options, uint32_t(i), &together);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < options.spawn; ++i) {
    if (Spawn(argc, argv) != 0) return 1;
  }
  SleepMs(options.sleep_at_end_ms);
  if (options.hard_exit) _exit(0);
  return 0;
}

}  // namespace
}  // namespace pgle::fake

int main(int argc, char** argv) {
  return pgle::fake::Run(argc, argv);
}
