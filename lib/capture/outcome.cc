#include "capture/outcome.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>

#include "capture/fault_text.h"

namespace pgle {
namespace {

using recorder::Fault;
using recorder::ProcessState;
using recorder::WindowMode;

constexpr size_t kModulesNamed = 3;

std::string Where(const ProcessReport& process) {
  return fmt::format("process {}", process.pid);
}

bool HasMissedWindow(const ProcessReport& process) {
  return process.fault == Fault::kWindowMissed;
}

bool IsFatal(const ProcessReport& process) {
  return process.state == ProcessState::kFailed && !HasMissedWindow(process);
}

Error NotLoaded(const DriverFacts& driver, const CaptureReport& report) {
  const std::string hint =
      driver.is_visible
          ? "the program did not use CUDA, or a wrapper took CUDA_INJECTION64_PATH away (env -i, "
            "sudo, a container): put pgle-capture behind the wrapper"
          : "no NVIDIA driver is visible here (/proc/driver/nvidia/version): run where the GPUs "
            "are";
  return Failed(report.command.front(), "no process loaded the recorder", hint);
}

Error NoRoom(const CaptureReport& report) {
  return Failed(report.log_directory,
                fmt::format("a process was not recorded: {}", strerror(report.no_room)),
                "make room, or give a directory on another disk with -o");
}

// "jit_train_step 40 times, jit_eval_step 3 times".
std::string ModuleCounts(const ProcessReport& process) {
  std::string text;
  size_t count = 0;
  if (process.summary) {
    for (const ModuleRuns& module : process.summary->modules) {
      if (count++ == kModulesNamed) break;
      text +=
          fmt::format("{}{} {} times", text.empty() ? "" : ", ", module.name, module.executions);
    }
    count = process.summary->modules.size();
  }
  if (text.empty()) {
    for (const std::string& name : process.module_names) {
      if (count++ == kModulesNamed) break;
      text += (text.empty() ? "" : ", ") + name;
    }
    count = process.module_names.size();
  }
  if (count > kModulesNamed) text += fmt::format(" and {} more", count - kModulesNamed);
  return text.empty() ? "none" : text;
}

uint64_t MostExecutions(const ProcessReport& process) {
  uint64_t most = 0;
  if (!process.summary) return most;
  for (const ModuleRuns& module : process.summary->modules) {
    most = std::max(most, module.executions);
  }
  return most;
}

bool MatchesAny(const std::string& pattern, const ProcessReport& process) {
  const RE2 expression(pattern, RE2::Quiet);
  return std::any_of(process.module_names.begin(), process.module_names.end(),
                     [&](const std::string& name) { return RE2::PartialMatch(name, expression); });
}

std::string StepsHint(const ProcessReport& process) {
  const uint64_t most = MostExecutions(process);
  if (most < 2) return "run more steps";
  return fmt::format("run more steps, or give --steps {}:{}", most / 2, most);
}

Error NeverOpened(const CaptureReport& report, const ProcessReport& process) {
  std::string hint;
  switch (report.window.mode) {
    case WindowMode::kSteps:
    case WindowMode::kAuto:
      hint = MatchesAny(report.module_pattern, process)
                 ? StepsHint(process)
                 : fmt::format("--module '{}' matches none of them", report.module_pattern);
      break;
    case WindowMode::kTime:
      hint = fmt::format("the command ran for {:.1f} s: give a smaller --delay", report.seconds);
      break;
    case WindowMode::kProfilerApi:
      hint = "the program did not call cudaProfilerStart; --steps auto needs no call";
      break;
    default:
      hint = "the signal did not come, or came before the program used the GPU";
      break;
  }
  return Failed(Where(process),
                fmt::format("the window never opened{}; modules that ran: {}",
                            process.fault_text.empty() ? "" : " (" + process.fault_text + ")",
                            ModuleCounts(process)),
                hint);
}

// Why a process that ran modules gave no trace.
Error NoTrace(const CaptureReport& report, const ProcessReport& process) {
  const bool has_opened = process.state >= ProcessState::kOpen;
  if (!has_opened || HasMissedWindow(process)) return NeverOpened(report, process);
  if (process.error) return *process.error;
  if (process.still_runs) {
    return Failed(Where(process), "still runs, with the window open",
                  "its records can be converted when it has ended");
  }
  return Failed(Where(process), "no record was written", "record more steps");
}

// A process that runs what a captured one runs belongs to the job: its absence is no detail.
bool RunsTheSame(const ProcessReport& process, const CaptureReport& report) {
  for (const ProcessReport& other : report.processes) {
    if (!other.has_trace()) continue;
    for (const ModuleRuns& module : other.summary->modules) {
      if (module.is_chosen && std::find(process.module_names.begin(), process.module_names.end(),
                                        module.name) != process.module_names.end()) {
        return true;
      }
    }
  }
  return false;
}

// How many steps were asked for; 0: not by their number.
uint64_t StepsAsked(const recorder::WindowSettings& window) {
  if (window.mode == WindowMode::kSteps) return window.last - window.first;
  return window.mode == WindowMode::kAuto ? window.count : 0;
}

// Fewer steps than asked for are a detail of one process, but ranks must record the same ones:
// their profiles are merged step by step.
void JudgeSteps(const CaptureSummary& summary, CaptureReport* report) {
  const uint64_t asked = StepsAsked(report->window);
  if (asked == 0 || !summary.has_window || summary.last_step < summary.first_step) return;
  const uint64_t recorded = summary.last_step - summary.first_step;
  if (recorded >= asked) return;
  std::string what = fmt::format("has {} of the {} steps asked for: [{}, {})", recorded, asked,
                                 summary.first_step, summary.last_step);
  if (report->window.mode == WindowMode::kSteps) {
    what += fmt::format(" of [{}, {})", report->window.first, report->window.last);
  }
  if (!summary.window_reason.empty()) what += "; " + summary.window_reason;
  const bool is_late =
      report->window.mode == WindowMode::kSteps && summary.first_step > report->window.first;
  Error error = Failed(summary.output, std::move(what),
                       is_late ? "give later steps" : "run more steps, or ask for fewer");
  if (report->rank.is_one_of_several()) {
    error.what += "; all ranks must record the same steps";
    report->failures.push_back(std::move(error));
  } else {
    report->diagnostics.Warn(error.where, error.what, error.hint);
  }
}

// What else a trace lacks, the converter says.
void JudgeTrace(const CaptureSummary& summary, CaptureReport* report) {
  JudgeSteps(summary, report);
  if (summary.kernels > 0) return;
  report->failures.push_back(
      Failed(summary.output, "no kernel was recorded in the window",
             "another tool may have taken CUPTI's buffers (jax.profiler in the program), or the "
             "steps ran elsewhere: -v lists all modules"));
}

}  // namespace

DriverFacts ReadDriverFacts(const std::string& directory) {
  DriverFacts facts;
  facts.is_visible = access((directory + "/version").c_str(), R_OK) == 0;
  std::ifstream params(directory + "/params");
  for (std::string line; std::getline(params, line);) {
    if (line.starts_with("RmProfilingAdminOnly:")) facts.admin_only = line.ends_with(" 1");
  }
  return facts;
}

void JudgeCapture(const DriverFacts& driver, CaptureReport* report) {
  const bool is_windowed = report->window.mode != WindowMode::kNone;
  const auto is_whole = [&](const ProcessReport& process) {
    return is_windowed ? process.has_trace() : process.summary && process.module_runs > 0;
  };
  const bool any = std::any_of(report->processes.begin(), report->processes.end(), is_whole);
  if (report->processes.empty() && report->processes_without_slot == 0) {
    report->failures.push_back(report->no_room != 0 ? NoRoom(*report) : NotLoaded(driver, *report));
  } else if (report->no_room != 0) {
    const Error error = NoRoom(*report);
    report->diagnostics.Warn(error.where, error.what, error.hint);
  }
  uint64_t module_runs = 0;
  for (const ProcessReport& process : report->processes) {
    module_runs += process.module_runs;
    if (process.fault != Fault::kNone && !HasMissedWindow(process)) {
      Error error = DescribeFault(process, driver);
      // Of a helper process that uses the GPU for a moment nobody wants a trace.
      if (IsFatal(process) && (process.module_runs > 0 || !any)) {
        report->failures.push_back(std::move(error));
      } else {
        report->diagnostics.Warn(error.where, error.what, error.hint);
      }
    }
    if (process.still_runs) {
      report->diagnostics.Note(Where(process), "still runs though the command has ended", "");
    }
    if (is_windowed && process.has_trace()) JudgeTrace(*process.summary, report);
    if (is_whole(process) || process.module_runs == 0 || IsFatal(process)) continue;
    Error error = is_windowed
                      ? NoTrace(*report, process)
                      : process.error.value_or(Failed(Where(process), "nothing was written"));
    if (!any || process.error || RunsTheSame(process, *report)) {
      report->failures.push_back(std::move(error));
    } else {
      report->diagnostics.Warn(error.where, error.what, error.hint);
    }
  }
  if (!report->processes.empty() && report->failures.empty() && !any && module_runs == 0) {
    report->failures.push_back(
        Failed(report->command.front(), "no module of XLA ran in a process that uses CUDA",
               "the program may run on the CPU (jax.devices() tells), or end too early"));
  }
  if (report->processes_without_slot > 0) {
    report->diagnostics.Warn(report->command.front(),
                             fmt::format("{} processes more than the {} that can be recorded",
                                         report->processes_without_slot, recorder::kMaxProcesses),
                             "start pgle-capture on every rank instead of once for all");
  }
}

}  // namespace pgle
