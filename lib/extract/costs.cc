#include "extract/costs.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "hlo/scheduler_queries.h"

namespace pgle {
namespace {

void AppendDurations(const RuntimeOp& op, std::vector<Picoseconds>* out) {
  for (const DeviceSamples& device : op.devices) {
    for (const Execution& execution : device.executions) out->push_back(execution.duration);
  }
}

// Instructions whose run-time op was seen on a device.
std::vector<bool> SeenInstructions(const ModuleSamples& module) {
  std::vector<bool> seen(module.hlo->instructions().size());
  for (const NameSamples& samples : module.names) {
    for (const RuntimeOp& op : samples.ops) {
      const uint32_t index = module.hlo->FindByName(op.name);
      if (index != kNoInstruction) seen[index] = true;
    }
  }
  return seen;
}

// By computation, whether anything was seen in it or in what it calls.
std::vector<bool> ActiveComputations(const HloModule& hlo, const std::vector<bool>& seen) {
  std::vector<bool> active(hlo.computations().size());
  for (uint32_t computation : hlo.callees_first()) {
    for (uint32_t i : hlo.computation(computation).instructions) {
      const auto& calls = hlo.instruction(i).calls;
      active[computation] =
          active[computation] || seen[i] ||
          std::any_of(calls.begin(), calls.end(), [&](uint32_t called) { return active[called]; });
    }
  }
  return active;
}

// The `while` whose condition this computation is; kNoInstruction otherwise.
uint32_t WhileOfCondition(const HloModule& hlo, uint32_t computation) {
  const auto& callers = hlo.computation(computation).callers;
  if (callers.size() != 1) return kNoInstruction;
  const HloInstruction& caller = hlo.instruction(callers.front());
  const bool is_condition = caller.opcode == "while" && caller.calls.size() == 2 &&
                            caller.calls[kWhileCondition] == computation;
  return is_condition ? callers.front() : kNoInstruction;
}

// What a loop condition is made of when a counter ends it: a comparison, alone or fused.
bool ComparesOrCounts(const HloModule& hlo, uint32_t instruction) {
  const HloInstruction* looked_at = &hlo.instruction(instruction);
  if (looked_at->opcode == "fusion" && looked_at->calls.size() == 1) {
    looked_at = &hlo.instruction(hlo.computation(looked_at->calls.front()).root);
  }
  static constexpr std::string_view kOpcodes[] = {"compare", "and", "or", "not", "add", "subtract"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), looked_at->opcode) !=
         std::end(kOpcodes);
}

// A loop with a known trip count never runs its condition: nothing of it is seen while the body is.
// Only where everything else in the trace is accounted for can "not seen" mean "did not run".
bool RunsWithoutKernel(const ModuleSamples& module, const std::vector<bool>& active,
                       uint32_t instruction) {
  const HloModule& hlo = *module.hlo;
  if (!module.command_buffers.empty() || module.has_dropped_events ||
      module.has_kernels_without_op || !module.unknown_ops.empty() ||
      !ComparesOrCounts(hlo, instruction)) {
    return false;
  }
  const uint32_t condition = hlo.instruction(instruction).computation;
  const uint32_t loop = WhileOfCondition(hlo, condition);
  return loop != kNoInstruction && !active[condition] &&
         active[hlo.instruction(loop).calls[kWhileBody]];
}

// What the computations that a call or conditional runs cost a run, in microseconds; negative when
// nothing of them was seen. Runs are counted by the instruction's own activity (a conditional
// copies its predicate), else by the op that ran most often in a called computation. The time of a
// computation that several instructions call is shared out evenly among them.
class CalledTime {
 public:
  explicit CalledTime(const ModuleSamples& module) : hlo_(*module.hlo) {
    own_.resize(hlo_.instructions().size());
    for (const NameSamples& samples : module.names) {
      for (const RuntimeOp& op : samples.ops) {
        const uint32_t index = hlo_.FindByName(op.name);
        if (index == kNoInstruction) continue;
        std::vector<Picoseconds> durations;
        AppendDurations(op, &durations);
        own_[index].count += durations.size();
        for (Picoseconds duration : durations) own_[index].time += duration;
      }
    }
    time_in_.resize(hlo_.computations().size());
    for (uint32_t computation : hlo_.callees_first()) {
      for (uint32_t inner : hlo_.computation(computation).instructions) {
        time_in_[computation] += TimeCalledBy(inner);
        // The execution of a loop spans its body, whose time is there already.
        if (hlo_.instruction(inner).opcode != "while") time_in_[computation] += own_[inner].time;
      }
    }
  }

  double Of(uint32_t instruction) const {
    uint64_t runs = own_[instruction].count;
    if (runs == 0) {
      for (uint32_t called : hlo_.instruction(instruction).calls) {
        uint64_t most = 0;
        for (uint32_t inner : hlo_.computation(called).instructions) {
          most = std::max(most, own_[inner].count);
        }
        runs += most / std::max<size_t>(1, hlo_.computation(called).callers.size());
      }
    }
    const double time = static_cast<double>(own_[instruction].time) + TimeCalledBy(instruction);
    return runs == 0 ? -1 : time / (1e6 * static_cast<double>(runs));
  }

 private:
  struct Totals {
    uint64_t count = 0;
    Picoseconds time = 0;
  };

  double TimeCalledBy(uint32_t instruction) const {
    double time = 0;
    for (uint32_t called : hlo_.instruction(instruction).calls) {
      time += time_in_[called] / static_cast<double>(hlo_.computation(called).callers.size());
    }
    return time;
  }

  const HloModule& hlo_;
  std::vector<Totals> own_;      // by instruction
  std::vector<double> time_in_;  // by computation, picoseconds
};

class CostTable {
 public:
  void Add(std::string_view name, double cost_us, CostSource source) {
    costs_.try_emplace(std::string(name), NamedCost{std::string(name), cost_us, source});
  }
  void Set(std::string_view name, double cost_us, CostSource source) {
    costs_.insert_or_assign(std::string(name), NamedCost{std::string(name), cost_us, source});
  }
  bool Has(std::string_view name) const { return costs_.count(std::string(name)) > 0; }
  std::vector<NamedCost> Take() {
    std::vector<NamedCost> sorted;
    for (auto& [name, cost] : costs_) sorted.push_back(std::move(cost));
    return sorted;
  }

 private:
  std::map<std::string, NamedCost> costs_;
};

void AddQueriedCosts(const ModuleSamples& module, AsyncFusions async_fusions, CostTable* table) {
  const HloModule& hlo = *module.hlo;
  const std::vector<bool> active = ActiveComputations(hlo, SeenInstructions(module));
  const CalledTime called_time(module);
  for (const SchedulerQuery& query : SchedulerQueries(hlo)) {
    switch (query.kind) {
      case QueryKind::kAsyncStart:
        if (async_fusions == AsyncFusions::kZero) table->Set(query.name, 0, CostSource::kAsyncPair);
        break;
      case QueryKind::kAsyncDone:
        if (async_fusions != AsyncFusions::kSkip) table->Add(query.name, 0, CostSource::kAsyncPair);
        break;
      case QueryKind::kCollective:
        break;
      case QueryKind::kCost: {
        const std::string_view opcode = hlo.instruction(query.instruction).opcode;
        if (opcode == "conditional" || (opcode == "call" && !table->Has(query.name))) {
          if (!module.command_buffers.empty()) break;  // its computations may be hidden
          const double cost_us = called_time.Of(query.instruction);
          if (cost_us >= 0) table->Set(query.name, cost_us, CostSource::kCalled);
        } else if (!query.is_free && !table->Has(query.name) &&
                   RunsWithoutKernel(module, active, query.instruction)) {
          table->Add(query.name, 0, CostSource::kNoActivity);
        }
      }
    }
  }
}

}  // namespace

std::vector<Picoseconds> DurationsOf(const NameSamples& samples) {
  std::vector<Picoseconds> durations;
  for (const RuntimeOp& op : samples.ops) AppendDurations(op, &durations);
  return durations;
}

std::vector<NamedCost> ComputeCosts(const ModuleSamples& module, const CostOptions& options) {
  CostTable table;
  if (options.names != NameMode::kRuntime) {
    for (const NameSamples& samples : module.names) {
      if (samples.is_async_other && options.async_fusions != AsyncFusions::kCost) continue;
      std::vector<Picoseconds> durations = DurationsOf(samples);
      if (durations.empty()) continue;
      table.Add(samples.name, options.statistic.Of(durations),
                samples.is_async_other ? CostSource::kAsyncPair : CostSource::kMeasured);
    }
    if (module.hlo != nullptr) AddQueriedCosts(module, options.async_fusions, &table);
  }
  if (options.names != NameMode::kScheduling) {
    // An alias must not answer for another instruction that the scheduler asks for.
    std::unordered_set<std::string_view> asked;
    if (module.hlo != nullptr && options.names == NameMode::kBoth) {
      for (const SchedulerQuery& query : SchedulerQueries(*module.hlo)) asked.insert(query.name);
    }
    const CostSource source =
        options.names == NameMode::kRuntime ? CostSource::kMeasured : CostSource::kAlias;
    for (const NameSamples& samples : module.names) {
      for (const RuntimeOp& op : samples.ops) {
        if (asked.count(op.name) > 0) continue;
        std::vector<Picoseconds> durations;
        AppendDurations(op, &durations);
        if (!durations.empty()) table.Add(op.name, options.statistic.Of(durations), source);
      }
    }
  }
  return table.Take();
}

}  // namespace pgle
