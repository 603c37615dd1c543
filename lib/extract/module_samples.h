// Executions sorted by what the scheduler asks for: module by module, name by name, over all
// processes and devices.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.h"
#include "extract/process_trace.h"
#include "extract/target_name.h"
#include "hlo/module.h"

namespace pgle {

struct DeviceSamples {
  uint32_t process = 0;  // index into the inputs
  uint32_t device = 0;   // index into that process's devices
  int64_t ordinal = 0;
  std::vector<Execution> executions;  // by start
  bool has_times = true;
};

// One op as it ran.
struct RuntimeOp {
  std::string name;
  std::vector<DeviceSamples> devices;
};

// Everything that goes under one name of a profile.
struct NameSamples {
  std::string name;
  CostClass cost_class = CostClass::kCompute;
  bool is_own_name = false;                  // XLA set no scheduling name, or there is no HLO
  bool is_async_other = false;               // an asynchronous pair that is no collective
  int64_t group_size = 0;                    // participants of a collective; 0 unknown
  std::vector<std::vector<int64_t>> groups;  // its members, ids as in the HLO; empty: unknown
  std::vector<std::pair<int64_t, int64_t>> pairs;
  std::vector<RuntimeOp> ops;
  Picoseconds busy = 0;  // device time of its fragments, before any correction
};

struct ModuleSamples {
  std::string name;
  std::string fingerprint;               // empty: unknown
  std::shared_ptr<const HloModule> hlo;  // null: unknown
  std::set<uint32_t> processes;
  std::vector<NameSamples> names;         // in order of first appearance
  Picoseconds busy = 0;                   // all device time of the module
  uint64_t runs = 0;                      // executions of the module, summed over devices
  std::set<std::string> command_buffers;  // as the trace names them
  Picoseconds command_buffer_busy = 0;
  std::set<std::string> unknown_ops;  // ops that the module's HLO does not have
  Picoseconds unknown_busy = 0;
  bool has_dropped_events = false;
  bool has_kernels_without_op = false;  // somewhere on its devices

  const NameSamples* Find(std::string_view name) const;

 private:
  friend class ModuleCollector;
  std::unordered_map<std::string, size_t> by_name_;
};

// Whether an op's name is that of a command buffer ("command_buffer_12").
bool IsCommandBufferName(std::string_view name);

// Sorts by module and name. Programs of one fingerprint are one module; without a fingerprint those
// of one name are, over processes. Takes the executions out of `processes`. `skip_first`: module
// runs left out at the start of each device. Errors: nothing is left after skipping.
Result<std::vector<ModuleSamples>> CollectSamples(std::vector<ProcessTrace>& processes,
                                                  uint64_t skip_first);

}  // namespace pgle
