#include "extract/costs.h"

#include <algorithm>
#include <map>
#include <set>

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

bool AnySeen(const HloModule& hlo, uint32_t computation, const std::vector<bool>& seen) {
  const auto& instructions = hlo.computation(computation).instructions;
  return std::any_of(instructions.begin(), instructions.end(), [&](uint32_t i) {
    if (seen[i]) return true;
    const auto& calls = hlo.instruction(i).calls;
    return std::any_of(calls.begin(), calls.end(),
                       [&](uint32_t called) { return AnySeen(hlo, called, seen); });
  });
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

// A loop with a known trip count never runs its condition: nothing of it is seen while the body is.
bool RunsWithoutKernel(const ModuleSamples& module, const std::vector<bool>& seen,
                       uint32_t instruction) {
  const HloModule& hlo = *module.hlo;
  if (!module.command_buffers.empty() || module.has_dropped_events) return false;
  if (hlo.CollectiveIn(instruction) != kNoInstruction) return false;
  const uint32_t condition = hlo.instruction(instruction).computation;
  const uint32_t loop = WhileOfCondition(hlo, condition);
  return loop != kNoInstruction && !AnySeen(hlo, condition, seen) &&
         AnySeen(hlo, hlo.instruction(loop).calls[kWhileBody], seen);
}

// What the computations that a call or conditional runs cost a run, in microseconds; negative when
// nothing of them was seen. Runs are counted by the instruction's own activity (a conditional copies
// its predicate), else by the op that ran most often in a called computation.
class CalledTime {
 public:
  explicit CalledTime(const ModuleSamples& module) : module_(module) {
    for (const NameSamples& samples : module.names) {
      for (const RuntimeOp& op : samples.ops) {
        const uint32_t index = module.hlo->FindByName(op.name);
        if (index == kNoInstruction) continue;
        std::vector<Picoseconds> durations;
        AppendDurations(op, &durations);
        Totals& totals = totals_[index];
        totals.count = durations.size();
        for (Picoseconds duration : durations) totals.time += duration;
      }
    }
  }

  double Of(uint32_t instruction) const {
    const Totals own = TotalsOf(instruction);
    Picoseconds time = own.time;
    uint64_t runs = 0;
    for (uint32_t called : module_.hlo->instruction(instruction).calls) {
      time += TimeIn(called);
      uint64_t most = 0;
      for (uint32_t inner : module_.hlo->computation(called).instructions) {
        most = std::max(most, TotalsOf(inner).count);
      }
      runs += most;
    }
    if (own.count > 0) runs = own.count;
    return runs == 0 ? -1 : static_cast<double>(time) / (1e6 * static_cast<double>(runs));
  }

 private:
  struct Totals {
    uint64_t count = 0;
    Picoseconds time = 0;
  };

  Totals TotalsOf(uint32_t instruction) const {
    const auto it = totals_.find(instruction);
    return it == totals_.end() ? Totals() : it->second;
  }

  Picoseconds TimeIn(uint32_t computation) const {
    Picoseconds time = 0;
    for (uint32_t inner : module_.hlo->computation(computation).instructions) {
      time += TotalsOf(inner).time;
      for (uint32_t called : module_.hlo->instruction(inner).calls) time += TimeIn(called);
    }
    return time;
  }

  const ModuleSamples& module_;
  std::unordered_map<uint32_t, Totals> totals_;
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
  const std::vector<bool> seen = SeenInstructions(module);
  const CalledTime called_time(module);
  for (const SchedulerQuery& query : SchedulerQueries(hlo)) {
    switch (query.kind) {
      case QueryKind::kAsyncStart:
        if (async_fusions == AsyncFusions::kZero) table->Set(query.name, 0, CostSource::kAsyncPair);
        break;
      case QueryKind::kAsyncDone:
        if (async_fusions != AsyncFusions::kSkip) table->Add(query.name, 0, CostSource::kAsyncPair);
        break;
      case QueryKind::kCollective: break;
      case QueryKind::kCost: {
        const std::string_view opcode = hlo.instruction(query.instruction).opcode;
        if (opcode == "conditional" || (opcode == "call" && !table->Has(query.name))) {
          if (!module.command_buffers.empty()) break;  // its computations may be hidden
          const double cost_us = called_time.Of(query.instruction);
          if (cost_us >= 0) table->Set(query.name, cost_us, CostSource::kCalled);
        } else if (!query.is_free && !table->Has(query.name) &&
                   RunsWithoutKernel(module, seen, query.instruction)) {
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
    const CostSource source =
        options.names == NameMode::kRuntime ? CostSource::kMeasured : CostSource::kAlias;
    for (const NameSamples& samples : module.names) {
      for (const RuntimeOp& op : samples.ops) {
        std::vector<Picoseconds> durations;
        AppendDurations(op, &durations);
        if (!durations.empty()) table.Add(op.name, options.statistic.Of(durations), source);
      }
    }
  }
  return table.Take();
}

}  // namespace pgle
