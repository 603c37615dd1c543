#include "extract/extract.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>
#include <thread>
#include <tuple>

#include "trace/run_directory.h"

namespace pgle {
namespace {

// Reads the files, `jobs` at a time. Results stand in the order of the files, whatever the timing.
Result<std::vector<ProcessTrace>> ReadProcesses(const std::vector<std::string>& files,
                                                const ReadProcessOptions& options, int jobs) {
  std::vector<std::optional<Result<ProcessTrace>>> results(files.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < files.size(); i = next++) {
      results[i].emplace(ReadProcessTrace(files[i], options));
    }
  };
  const size_t threads = std::min(files.size(), static_cast<size_t>(std::max(jobs, 1)));
  std::vector<std::thread> helpers;
  try {
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads to be had: those that run do the work
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  std::vector<ProcessTrace> processes;
  for (auto& result : results) {
    if (!result->ok()) return std::move(result->error());
    processes.push_back(std::move(**result));
  }
  return processes;
}

// One recording under two names would count twice.
Status RefuseCopies(const std::vector<ProcessTrace>& processes) {
  std::map<std::tuple<uint64_t, std::string, uint64_t, Picoseconds>, const ProcessTrace*> seen;
  for (const ProcessTrace& process : processes) {
    if (process.start_time_ns == 0) continue;
    uint64_t events = 0;
    Picoseconds busy = 0;
    for (const DeviceTrace& device : process.devices) {
      events += device.events;
      busy += device.busy;
    }
    const auto [it, added] =
        seen.try_emplace({process.start_time_ns, process.hostname, events, busy}, &process);
    if (!added) {
      return UsageError(
          process.file,
          "is the same recording as " + it->second->file + ": its executions would count twice",
          "name each trace once");
    }
  }
  return {};
}

// A process whose trace lacks the HLO of a module gets it from the others, where they agree.
void ShareModules(std::vector<ProcessTrace>* processes, Diagnostics* diagnostics) {
  std::map<std::string, std::map<std::string, std::shared_ptr<const HloModule>>> known;
  for (const ProcessTrace& process : *processes) {
    for (const auto& [key, module] : process.modules) {
      if (module != nullptr) known[key.first].emplace(module->fingerprint(), module);
    }
  }
  for (ProcessTrace& process : *processes) {
    for (auto& [key, module] : process.modules) {
      const auto others = known.find(key.first);
      if (module != nullptr || others == known.end() || others->second.size() != 1) continue;
      module = others->second.begin()->second;
      diagnostics->Note(process.display_name(),
                        "has no HLO of " + key.first + ": taken from another program or process");
    }
  }
}

Status AddDump(const std::string& path, const std::string& spool_directory,
               std::vector<ProcessTrace>* processes, Diagnostics* diagnostics) {
  PGLE_ASSIGN_OR_RETURN(DumpFolder dump, DumpFolder::Open(path, spool_directory));
  std::string wanted;
  bool any_missing = false, any_found = false;
  for (ProcessTrace& process : *processes) {
    for (const auto& [key, module] : process.modules) {
      if (module != nullptr) continue;
      any_missing = true;
      wanted += fmt::format(" {}({})", key.first, key.second);
    }
    PGLE_RETURN_IF_ERROR(AddModulesFromDump(dump, &process));
    for (const auto& [key, module] : process.modules) {
      any_found |= module != nullptr;
      if (module != nullptr) continue;
      diagnostics->Warn(path,
                        fmt::format("holds no module {}({}), or several of that name and none "
                                    "of that id",
                                    key.first, key.second),
                        "its costs go under run-time names");
    }
  }
  if (any_missing && !any_found) {
    return Failed(path, "holds none of the modules that the trace ran:" + wanted,
                  "give the dump folder of the very run that was traced");
  }
  return {};
}

ModuleReport Describe(const ModuleSamples& module) {
  ModuleReport report;
  report.name = module.name;
  report.fingerprint = module.fingerprint;
  report.has_hlo = module.hlo != nullptr;
  report.has_scheduling_names = module.hlo != nullptr && module.hlo->has_scheduling_names();
  report.processes.assign(module.processes.begin(), module.processes.end());
  report.runs = module.runs;
  report.busy = module.busy;
  for (const NameSamples& samples : module.names) {
    report.own_names += samples.is_own_name ? 1 : 0;
    for (const RuntimeOp& op : samples.ops) {
      for (const DeviceSamples& device : op.devices) {
        report.executions += device.executions.size();
      }
    }
  }
  report.command_buffers = module.command_buffers.size();
  report.command_buffer_busy = module.command_buffer_busy;
  report.unknown_ops.assign(module.unknown_ops.begin(), module.unknown_ops.end());
  report.unknown_busy = module.unknown_busy;
  return report;
}

void DescribeProcesses(const std::vector<ProcessTrace>& processes, Extraction* extraction) {
  for (const ProcessTrace& process : processes) {
    ProcessReport& report = extraction->processes.emplace_back();
    report.name = process.display_name();
    report.file = process.file;
    report.sha256 = process.sha256;
    for (const DeviceTrace& device : process.devices) {
      report.devices.push_back(device.name);
      report.events += device.events;
      extraction->busy += device.busy;
      for (size_t kind = 0; kind < device.unattributed.size(); ++kind) {
        extraction->unattributed[kind] += device.unattributed[kind];
      }
    }
    extraction->diagnostics.Append(process.diagnostics);
  }
}

Status KeepMatching(const std::string& pattern, std::vector<ModuleSamples>* modules) {
  if (pattern.empty()) return {};
  const RE2 regex(pattern, RE2::Quiet);
  if (!regex.ok()) return UsageError("--module", "bad pattern: " + regex.error());
  std::string known;
  for (const ModuleSamples& module : *modules) known += " " + module.name;
  modules->erase(std::remove_if(modules->begin(), modules->end(),
                                [&](const ModuleSamples& module) {
                                  return !RE2::PartialMatch(module.name, regex);
                                }),
                 modules->end());
  if (modules->empty()) {
    return Failed("--module", fmt::format("no module matches '{}'", pattern),
                  "modules in the trace:" + known);
  }
  return {};
}

double Share(double part, double whole) {
  return whole <= 0 ? 1 : part / whole;
}

}  // namespace

double Extraction::coverage_by_count(bool strict) const {
  double found = 0, asked = 0;
  for (const ModuleReport& module : modules) {
    if (!module.coverage.known) continue;
    found += static_cast<double>(module.coverage.found);
    asked += static_cast<double>(module.coverage.found + module.coverage.missing.size() +
                                 (strict ? module.coverage.left_to_xla.size() : 0));
  }
  return Share(found, asked);
}

double Extraction::coverage_by_time(bool strict) const {
  double found = 0, asked = 0;
  for (const ModuleReport& module : modules) {
    if (!module.coverage.known) continue;
    found += static_cast<double>(module.coverage.found_busy);
    asked += static_cast<double>(module.coverage.found_busy + module.coverage.missing_busy +
                                 (strict ? module.coverage.left_busy : 0));
  }
  return Share(found, asked);
}

bool Extraction::coverage_is_known() const {
  double known = 0, total = 0;
  for (const ModuleReport& module : modules) {
    total += static_cast<double>(module.busy);
    if (module.coverage.known) known += static_cast<double>(module.busy);
  }
  return known > 0 && known >= kDominantShare * total;
}

Result<std::vector<std::string>> ResolveInputs(const ExtractOptions& options,
                                               Diagnostics* diagnostics) {
  std::vector<std::string> files;
  for (const std::string& input : options.inputs) {
    PGLE_ASSIGN_OR_RETURN(const std::vector<std::string> found,
                          FindTraceFiles(input, options.run, diagnostics));
    files.insert(files.end(), found.begin(), found.end());
  }
  std::vector<std::string> seen;
  for (const std::string& file : files) {
    std::error_code error;
    std::string canonical = std::filesystem::canonical(file, error);
    if (error) canonical = file;
    if (std::find(seen.begin(), seen.end(), canonical) != seen.end()) {
      return UsageError(file, "is named twice: its executions would count twice",
                        "name each trace once");
    }
    seen.push_back(std::move(canonical));
  }
  return files;
}

Result<Extraction> Extract(const ExtractOptions& options) {
  Extraction extraction;
  PGLE_ASSIGN_OR_RETURN(extraction.files, ResolveInputs(options, &extraction.diagnostics));
  PGLE_ASSIGN_OR_RETURN(
      std::vector<ProcessTrace> processes,
      ReadProcesses(extraction.files, {options.spool_directory, options.want_samples},
                    options.jobs));
  if (!options.hlo.empty()) {
    PGLE_RETURN_IF_ERROR(
        AddDump(options.hlo, options.spool_directory, &processes, &extraction.diagnostics));
    extraction.files.push_back(options.hlo);
  }
  PGLE_RETURN_IF_ERROR(RefuseCopies(processes));
  ShareModules(&processes, &extraction.diagnostics);
  DescribeProcesses(processes, &extraction);
  PGLE_ASSIGN_OR_RETURN(std::vector<ModuleSamples> modules,
                        CollectSamples(processes, options.skip_first));
  processes.clear();
  Picoseconds busy = 0;  // of all modules: one of many is not the only one when asked for alone
  for (const ModuleSamples& module : modules) busy += module.busy;
  PGLE_RETURN_IF_ERROR(KeepMatching(options.module_pattern, &modules));
  std::stable_sort(modules.begin(), modules.end(),
                   [](const ModuleSamples& a, const ModuleSamples& b) { return a.busy > b.busy; });

  std::vector<TransferReport> transfers(modules.size());
  if (options.transfer_times) {
    for (size_t i = 0; i < modules.size(); ++i) transfers[i] = CorrectWithinFiles(modules[i]);
  }
  if (options.want_samples) extraction.samples = modules;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (options.transfer_times) transfers[i] += CorrectAcrossFiles(modules[i]);
    ModuleReport report = Describe(modules[i]);
    report.transfer = transfers[i];
    ModuleCosts costs{modules[i].name, modules[i].fingerprint, modules[i].busy,
                      ComputeCosts(modules[i], options.costs)};
    for (const NamedCost& cost : costs.costs) ++report.costs_by_source[cost.source];
    report.coverage = ComputeCoverage(modules[i], costs.costs);
    extraction.modules.push_back(std::move(report));
    extraction.costs.push_back(std::move(costs));
  }
  PGLE_ASSIGN_OR_RETURN(extraction.keyed, AssembleProfile(extraction.costs, options.keys,
                                                          &extraction.diagnostics, busy));
  return extraction;
}

}  // namespace pgle
