// XLA's own figures for one module, from a log of testdata: what the emulation is held against.
#pragma once

#include <doctest/doctest.h>

#include <set>
#include <sstream>
#include <string>

#include "io/input.h"

namespace pgle {

struct XlaCounts {
  uint64_t found = 0;
  std::set<std::string> missing;
};

// The last compile of jit_train_step in the log.
inline XlaCounts CountsInLog(const std::string& path) {
  const auto input = Input::Open(path);
  REQUIRE(input.ok());
  XlaCounts counts;
  bool in_module = false;
  std::istringstream lines{std::string(input->bytes())};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Found profile for module") != std::string::npos) {
      in_module = line.find("module jit_train_step,") != std::string::npos;
      if (in_module) counts = {};
    }
    const size_t text = line.find("] ");
    if (!in_module || text == std::string::npos ||
        line.find("latency_estimator.cc") == std::string::npos) {
      continue;
    }
    const std::string message = line.substr(text + 2);
    if (message.rfind("Found ", 0) == 0) counts.found = std::stoull(message.substr(6));
    if (message.rfind("  ", 0) == 0) counts.missing.insert(message.substr(2));
  }
  return counts;
}

}  // namespace pgle
