// What the fake program really did, as JSON lines: one for each kernel, copy and memset that a
// device was given. Tests compare a recording with them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace pgle::fake {

enum class Given { kKernel, kCopy, kSet };

// An execution of a module on a device.
struct Execution {
  std::string text;    // of its XlaModule range; empty: none is open
  uint64_t index = 0;  // how many of this module came before on this device
};

// Of all threads. Lines are written when a thread says so, whole ones at a time.
class TruthFile {
 public:
  explicit TruthFile(int file) : file_(file) {}

  // Numbers things that devices are given; the number stands in the record, as the first grid
  // dimension, the bytes of a copy, or the value of a memset.
  uint32_t NextSerial();
  uint64_t NextExecution(const std::string& module_text, int device);
  void Write(const std::string& lines);

 private:
  std::mutex mutex_;
  uint32_t serials_ = 0;
  std::map<std::pair<std::string, int>, uint64_t> executions_;
  int file_;
};

struct Launched {
  uint32_t serial = 0;
  Given given = Given::kKernel;
  bool in_graph = false;
  int device = 0;
  uint64_t called = 0, time = 0;  // before the call, and after it
  std::string stack;    // of XLA's ranges: where it was launched, or where its node was made
  Execution execution;  // that launched it
  uint32_t scope = 0;   // number of the innermost open range among its thread's pushes; 0: none
};

std::string TruthLine(const Launched& launched, uint32_t thread);

// XLA's ranges that are open, "::" between; the joined text is what XProf parses.
std::string Join(const std::vector<std::string>& ranges);

// The value of `key` in the innermost range that has it; empty where none does.
std::string Field(const std::string& stack, const std::string& key);

}  // namespace pgle::fake
