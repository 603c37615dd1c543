// An optimized HLO module, reduced to what the tools ask of it: names at run time and at scheduling
// time, calls, operands, collectives, fingerprint. Built from a HloProto or from HLO text; both
// give the same module.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"

namespace pgle {

inline constexpr uint32_t kNoInstruction = UINT32_MAX;
inline constexpr uint32_t kNoComputation = UINT32_MAX;

// Where the computations of a `while` stand in its calls.
inline constexpr size_t kWhileBody = 0;
inline constexpr size_t kWhileCondition = 1;

struct HloInstruction {
  std::string_view name;             // at run time: the hlo_op of a trace
  std::string_view scheduling_name;  // OpMetadata.scheduling_name; empty where XLA set none
  std::string_view opcode;           // as in HLO text
  int64_t id = 0;                    // unique_hlo_op_id of a trace; 0 in modules read from text
  uint32_t computation = 0;
  bool is_root = false;
  std::vector<uint32_t> operands;  // instructions of the same computation
  std::vector<uint32_t> calls;     // computations
  // Of a collective. Devices a group, of the largest; 0 where the HLO does not say.
  int64_t group_size = 0;
  // Members of each group, ids as in the HLO. Empty where the HLO does not say, where the groups
  // hold more than 1024 ids, and for meshes with parts of axes or an order of their own.
  std::vector<std::vector<int64_t>> groups;
  std::vector<std::pair<int64_t, int64_t>> source_target_pairs;
  std::string_view backend_config;  // kBackendConfigs only; JSON on GPU: tilings and algorithms
};

struct HloComputation {
  std::string_view name;
  uint32_t root = kNoInstruction;
  std::vector<uint32_t> instructions;  // in schedule order where the module is scheduled
  std::vector<uint32_t> callers;       // instructions, one entry a call
};

class HloModule {
 public:
  HloModule() = default;
  HloModule(HloModule&&) = default;
  HloModule& operator=(HloModule&&) = default;
  HloModule(const HloModule&) = delete;  // names point into the module's own strings

  const std::string& name() const { return name_; }
  int64_t id() const { return id_; }  // program_id of a trace; 0 in modules read from text
  // fingerprint_before_lhs: the module's own attribute (XLA since 2024-02), else the entry root's.
  // Empty when the module was never scheduled.
  const std::string& fingerprint() const { return fingerprint_; }
  // The entry root's attribute alone: the only one that XLA's own extraction reads.
  const std::string& root_fingerprint() const { return root_fingerprint_; }
  bool is_scheduled() const { return is_scheduled_; }
  // Whether any instruction carries the name that it had when the latency hiding scheduler ran.
  // Older XLA sets none: then every instruction stands under its own name.
  bool has_scheduling_names() const { return has_scheduling_names_; }
  uint32_t entry() const { return entry_; }
  // Of each id in replica groups and pairs, its device. Empty where unknown: text never says.
  const std::vector<int64_t>& device_ids() const { return device_ids_; }

  const std::vector<HloInstruction>& instructions() const { return instructions_; }
  const std::vector<HloComputation>& computations() const { return computations_; }
  const HloInstruction& instruction(uint32_t index) const { return instructions_[index]; }
  const HloComputation& computation(uint32_t index) const { return computations_[index]; }

  // The name under which the scheduler knew an instruction: its scheduling name. In a module
  // without scheduling names its own, less the suffix of a clone that rematerialization made
  // (".remat3"), since that runs after scheduling. Empty for what XLA added after scheduling.
  std::string_view SchedulerName(uint32_t index) const;

  // kNoInstruction when there is none.
  uint32_t FindById(int64_t id) const;
  uint32_t FindByName(std::string_view name) const;

  // The instruction that an async-start runs (its computation's root), seen through nested async
  // wrappers; kNoInstruction for any other opcode.
  uint32_t WrappedInstruction(uint32_t index) const;
  // The async-start that runs this instruction; kNoInstruction when it runs by itself.
  uint32_t AsyncStartOf(uint32_t index) const;
  // The collective that this instruction is or holds: itself, the wrapped one of an async-start, or
  // one inside a fusion, call or wrapped computation. kNoInstruction when it does not communicate.
  uint32_t CollectiveIn(uint32_t index) const;
  // Computations in an order in which what is called stands before what calls it. Calls form no
  // cycle, but may nest deeply: walks go by this order and do not recurse.
  const std::vector<uint32_t>& callees_first() const { return callees_first_; }

 private:
  friend class HloModuleBuilder;
  std::string name_, fingerprint_, root_fingerprint_;
  int64_t id_ = 0;
  bool is_scheduled_ = false;
  bool has_scheduling_names_ = false;
  uint32_t entry_ = kNoComputation;
  std::vector<int64_t> device_ids_;
  std::vector<HloInstruction> instructions_;
  std::vector<HloComputation> computations_;
  std::vector<uint32_t> callees_first_;
  std::vector<uint32_t> collective_in_;  // by computation; kNoInstruction where there is none
  std::deque<std::string> strings_;      // stable addresses
  std::unordered_map<int64_t, uint32_t> by_id_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

// What is kept of a module. Backend configs can be most of its bytes, and comparing compiles alone
// asks for them.
enum class HloDetail { kNames, kBackendConfigs };

// Reads a serialized HloProto (`name` is for messages).
// Errors: not a HloProto, cut short, no entry computation, references to what does not exist.
Result<HloModule> ParseHloProto(std::string_view bytes, const std::string& name,
                                HloDetail detail = HloDetail::kNames);

// Reads HLO text, as XLA dumps it with --xla_dump_to alone.
// Errors: not HLO text, with the line; no entry computation.
Result<HloModule> ParseHloText(std::string_view text, const std::string& name,
                               HloDetail detail = HloDetail::kNames);

// Either of the two, told by content ("HloModule " starts a text).
Result<HloModule> ParseHlo(std::string_view bytes, const std::string& name,
                           HloDetail detail = HloDetail::kNames);

}  // namespace pgle
