#include "extract/module_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "hlo/scheduler_queries.h"

namespace pgle {
namespace {

constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();

// An op of a trace in its module.
struct ResolvedOp {
  uint32_t instruction = kNoInstruction;
  bool is_command_buffer = false;
};

ResolvedOp Resolve(const TraceOp& op, const HloModule* hlo) {
  if (hlo == nullptr) return {kNoInstruction, IsCommandBufferName(op.name)};
  ResolvedOp resolved;
  if (op.unique_id != 0) resolved.instruction = hlo->FindById(op.unique_id);
  if (resolved.instruction == kNoInstruction ||
      hlo->instruction(resolved.instruction).name != op.name) {
    resolved.instruction = hlo->FindByName(op.name);
  }
  resolved.is_command_buffer = resolved.instruction == kNoInstruction
                                   ? IsCommandBufferName(op.name)
                                   : IsCommandBufferCall(*hlo, resolved.instruction);
  return resolved;
}

// Runs of each program of a device, told by the op that starts first (of the entry computation,
// where the HLO is known): it runs once a run.
struct ProgramRuns {
  Picoseconds first = kNever;
  const std::vector<Execution>* anchor = nullptr;
};

std::map<ProgramKey, ProgramRuns> RunsOf(const DeviceTrace& device, const ProcessTrace& process) {
  std::map<ProgramKey, ProgramRuns> runs;
  for (const bool entry_only : {true, false}) {
    for (const OpExecutions& op : device.ops) {
      if (op.executions.empty()) continue;
      const ProgramKey key{op.op.module, op.op.program_id};
      const HloModule* hlo = process.modules.at(key).get();
      const ResolvedOp resolved = Resolve(op.op, hlo);
      const bool in_entry = resolved.instruction != kNoInstruction &&
                            hlo->instruction(resolved.instruction).computation == hlo->entry();
      if (entry_only && hlo != nullptr && !in_entry) continue;
      ProgramRuns& program = runs[key];
      if (!entry_only && program.anchor != nullptr) continue;
      if (op.executions.front().start < program.first) {
        program.first = op.executions.front().start;
        program.anchor = &op.executions;
      }
    }
  }
  return runs;
}

}  // namespace

bool IsCommandBufferName(std::string_view name) {
  constexpr std::string_view kPrefix = "command_buffer";
  if (name.substr(0, kPrefix.size()) != kPrefix) return false;
  name.remove_prefix(kPrefix.size());
  return name.empty() || name[0] == '_' || name[0] == '.';
}

const NameSamples* ModuleSamples::Find(std::string_view name) const {
  const auto it = by_name_.find(std::string(name));
  return it == by_name_.end() ? nullptr : &names[it->second];
}

class ModuleCollector {
 public:
  void Add(ProcessTrace& process, uint32_t process_index, uint64_t skip_first) {
    for (uint32_t d = 0; d < process.devices.size(); ++d) {
      DeviceTrace& device = process.devices[d];
      std::map<ProgramKey, Picoseconds> begin;  // executions before it are skipped
      for (const auto& [key, runs] : RunsOf(device, process)) {
        if (runs.anchor == nullptr) continue;
        ModuleSamples& module = ModuleFor(process, key, process_index);
        const uint64_t count = runs.anchor->size();
        module.runs += count > skip_first ? count - skip_first : 0;
        begin[key] = skip_first == 0       ? std::numeric_limits<Picoseconds>::min()
                     : count <= skip_first ? kNever
                                           : (*runs.anchor)[skip_first].start;
      }
      for (OpExecutions& op : device.ops) {
        AddOp(process, process_index, d, device, op, begin);
      }
    }
  }

  std::vector<ModuleSamples> Finish() { return std::move(modules_); }

 private:
  ModuleSamples& ModuleFor(const ProcessTrace& process, const ProgramKey& key,
                           uint32_t process_index) {
    const std::shared_ptr<const HloModule>& hlo = process.modules.at(key);
    const std::string fingerprint = hlo == nullptr ? "" : hlo->fingerprint();
    const auto [it, added] =
        index_.try_emplace({fingerprint.empty() ? key.first : "", fingerprint}, modules_.size());
    if (added) {
      ModuleSamples& module = modules_.emplace_back();
      module.name = key.first;
      module.fingerprint = fingerprint;
    }
    ModuleSamples& module = modules_[it->second];
    if (module.hlo == nullptr) module.hlo = hlo;
    module.processes.insert(process_index);
    module.has_dropped_events |= process.has_dropped_events;
    for (const DeviceTrace& device : process.devices) {
      module.has_kernels_without_op |=
          device.unattributed[static_cast<size_t>(ActivityKind::kKernel)] > 0;
    }
    return module;
  }

  void AddOp(const ProcessTrace& process, uint32_t process_index, uint32_t device_index,
             const DeviceTrace& device, OpExecutions& op,
             const std::map<ProgramKey, Picoseconds>& begin) {
    const ProgramKey key{op.op.module, op.op.program_id};
    ModuleSamples& module = ModuleFor(process, key, process_index);
    module.busy += op.busy;
    const HloModule* hlo = process.modules.at(key).get();
    const ResolvedOp resolved = Resolve(op.op, hlo);
    if (resolved.is_command_buffer) {
      module.command_buffers.insert(op.op.name);
      module.command_buffer_busy += op.busy;
      return;
    }
    TargetName target;
    if (hlo == nullptr) {
      target.name = op.op.name;
      target.is_own_name = true;
    } else if (resolved.instruction == kNoInstruction) {
      module.unknown_ops.insert(op.op.name);
      module.unknown_busy += op.busy;
      return;
    } else {
      // A loop copies its predicate once an iteration. Scope ids make those copies one execution,
      // which spans the loop; single copies would pass a whole loop off as 2 us.
      if (!op.has_scopes && hlo->instruction(resolved.instruction).opcode == "while") return;
      target = TargetNameOf(*hlo, resolved.instruction);
      if (target.name.empty()) return;
      // Something added after scheduling may have taken a name that the scheduler knew otherwise.
      if (target.is_own_name && hlo->has_scheduling_names() &&
          AskedNames(*hlo).count(target.name) > 0) {
        return;
      }
    }
    if (op.has_times) {
      const auto first = std::lower_bound(
          op.executions.begin(), op.executions.end(), begin.at(key),
          [](const Execution& execution, Picoseconds time) { return execution.start < time; });
      op.executions.erase(op.executions.begin(), first);
    }
    if (op.executions.empty()) return;
    NameSamples& samples = SamplesFor(module, target, hlo);
    samples.busy += op.busy;
    auto runtime = std::find_if(samples.ops.begin(), samples.ops.end(),
                                [&](const RuntimeOp& known) { return known.name == op.op.name; });
    if (runtime == samples.ops.end()) {
      samples.ops.push_back({op.op.name, {}});
      runtime = samples.ops.end() - 1;
    }
    AddDevice({process_index, device_index, device.ordinal, std::move(op.executions), op.has_times},
              &runtime->devices);
  }

  // A process may have compiled one module several times: its devices are still one each.
  static void AddDevice(DeviceSamples added, std::vector<DeviceSamples>* devices) {
    for (DeviceSamples& known : *devices) {
      if (known.process != added.process || known.ordinal != added.ordinal) continue;
      known.executions.insert(known.executions.end(), added.executions.begin(),
                              added.executions.end());
      std::stable_sort(known.executions.begin(), known.executions.end(),
                       [](const Execution& a, const Execution& b) { return a.start < b.start; });
      known.has_times &= added.has_times;
      return;
    }
    devices->push_back(std::move(added));
  }

  const std::unordered_set<std::string_view>& AskedNames(const HloModule& hlo) {
    const auto [it, added] = asked_.try_emplace(&hlo);
    if (added) {
      for (const SchedulerQuery& query : SchedulerQueries(hlo)) it->second.insert(query.name);
    }
    return it->second;
  }

  NameSamples& SamplesFor(ModuleSamples& module, const TargetName& target, const HloModule* hlo) {
    const auto [it, added] =
        module.by_name_.try_emplace(std::string(target.name), module.names.size());
    if (added) {
      NameSamples& samples = module.names.emplace_back();
      samples.name = target.name;
      samples.cost_class = target.cost_class;
      samples.is_own_name = target.is_own_name;
      samples.is_async_other = target.async_start != kNoInstruction;
      if (target.collective != kNoInstruction) {
        const HloInstruction& collective = hlo->instruction(target.collective);
        samples.group_size = collective.group_size;
        samples.groups = collective.groups;
        samples.pairs = collective.source_target_pairs;
      }
    }
    return module.names[it->second];
  }

  std::vector<ModuleSamples> modules_;
  std::map<std::pair<std::string, std::string>, size_t> index_;  // by name or fingerprint
  std::map<const HloModule*, std::unordered_set<std::string_view>> asked_;
};

Result<std::vector<ModuleSamples>> CollectSamples(std::vector<ProcessTrace>& processes,
                                                  uint64_t skip_first) {
  ModuleCollector collector;
  for (uint32_t p = 0; p < processes.size(); ++p) collector.Add(processes[p], p, skip_first);
  std::vector<ModuleSamples> modules = collector.Finish();
  if (skip_first > 0 && std::all_of(modules.begin(), modules.end(),
                                    [](const ModuleSamples& module) { return module.runs == 0; })) {
    return Failed(
        "--skip-first",
        fmt::format("no module ran more than {} times on a device: nothing is left", skip_first),
        "skip fewer runs, or record more steps");
  }
  return modules;
}

}  // namespace pgle
