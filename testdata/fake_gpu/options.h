// Command line of the fake program.
#pragma once

#include <cstdint>
#include <string>

namespace pgle::fake {

struct Options {
  int steps = 20;
  int devices = 2;
  int threads = 0;  // 0: one a device; more: each runs a module of its own, on device i % devices
  double step_ms = 2;
  int layers = 4;
  bool graphs = false;
  int recompile_at = -1, compile_ms = 0;
  int profile_first = -1,
      profile_last = -1;  // cudaProfilerStart before the one, Stop after the other
  int fork_at = -1;
  int spawn = 0;
  bool hard_exit = false;
  int sleep_at_end_ms = 0;
  std::string cupti;  // loaded before the driver is initialised, as XLA's plugin does
  std::string truth;  // file; empty: standard output
  int64_t random = -1;
  int operations = 2000, pause_ms = 200;
};

// Exits on an error, and for --help.
Options ParseOptions(int argc, char** argv);

}  // namespace pgle::fake
