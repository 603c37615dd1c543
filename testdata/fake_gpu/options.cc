#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace pgle::fake {

Options ParseOptions(int argc, char** argv) {
  Options options;
  std::string profile;
  CLI::App app("Looks like a training program of XLA to a driver, to CUPTI and to NVTX.");
  app.add_option("--steps", options.steps, "executions of the training step on each device");
  app.add_option("--devices", options.devices);
  app.add_option("--threads", options.threads, "one a device; more: a module of its own for each");
  app.add_option("--step-ms", options.step_ms, "shortest time of a step");
  app.add_option("--layers", options.layers, "how many operations a step has");
  app.add_flag("--graphs", options.graphs, "command buffers");
  app.add_option("--recompile-at", options.recompile_at, "the step before which it compiles again");
  app.add_option("--compile-ms", options.compile_ms, "how long it compiles");
  app.add_option("--profile", profile, "A:B: cudaProfilerStart before step A, Stop after step B-1");
  app.add_option("--fork-at", options.fork_at, "the step at which a thread forks");
  app.add_option("--spawn", options.spawn, "run the program again that many times, at its end");
  app.add_flag("--hard-exit", options.hard_exit, "leave by _exit");
  app.add_option("--sleep-at-end", options.sleep_at_end_ms, "milliseconds");
  app.add_option("--cupti", options.cupti, "library to load before the driver is initialised");
  app.add_option("--truth", options.truth, "file to append the truth to; else standard output");
  app.add_option("--random", options.random, "run a random program of this number instead");
  app.add_option("--operations", options.operations, "of a random program, for each thread");
  app.add_option("--pause", options.pause_ms, "ms, in the middle of a random program");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit(app.exit(error));
  }
  if (options.threads == 0) options.threads = options.devices;
  if (const size_t colon = profile.find(':'); colon != std::string::npos) {
    options.profile_first = atoi(profile.c_str());
    options.profile_last = atoi(profile.c_str() + colon + 1);
  }
  return options;
}

}  // namespace pgle::fake
