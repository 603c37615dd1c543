#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "capture/fault_text.h"
#include "capture/report.h"
#include "inspect/text.h"

namespace pgle {
namespace {

constexpr size_t kModulesShown = 3;

std::string FormatBytes(uint64_t bytes) {
  const double size = static_cast<double>(bytes);
  if (size >= 1e9) return fmt::format("{:.2f} GB", size / 1e9);
  if (size >= 1e6) return fmt::format("{:.1f} MB", size / 1e6);
  return fmt::format("{:.1f} kB", size / 1e3);
}

// For a shell: as it is where that is safe.
std::string Quote(const std::string& word) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
  if (!word.empty() && word.find_first_not_of(kSafe) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

const ModuleRuns* ChosenModule(const CaptureSummary& summary) {
  for (const ModuleRuns& module : summary.modules) {
    if (module.is_chosen) return &module;
  }
  return nullptr;
}

std::string WindowText(const CaptureSummary& summary) {
  std::string text;
  const ModuleRuns* chosen = ChosenModule(summary);
  if (chosen != nullptr && summary.last_step > summary.first_step) {
    text = fmt::format("{} [{}, {}) of {}, ",
                       summary.last_step - summary.first_step == 1 ? "step" : "steps",
                       summary.first_step, summary.last_step, chosen->name);
  }
  text += fmt::format("{:.3f} s", summary.window_seconds);
  if (!summary.window_reason.empty()) text += ": " + summary.window_reason;
  return text;
}

std::string RecordsText(const CaptureSummary& summary) {
  const uint64_t records = summary.kernels + summary.copies + summary.sets;
  std::string text = fmt::format(
      "{}, {}, {} on {}", Count(summary.kernels, "kernel"),
      summary.copies == 1 ? std::string("1 copy") : fmt::format("{} copies", summary.copies),
      Count(summary.sets, "memset"), Count(summary.devices, "device"));
  if (summary.in_graphs > 0) {
    text += fmt::format("; {} in command buffers", summary.in_graphs);
  }
  if (records > 0) {
    text += fmt::format(
        "\n  attributed  {} of them to an HLO op, {} of the modules' device time",
        FormatPercent(static_cast<double>(summary.attributed) / static_cast<double>(records)),
        FormatPercent(summary.attributed_time_share));
  }
  return text;
}

std::string LostText(const CaptureSummary& summary) {
  std::string text;
  const auto add = [&](uint64_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(summary.dropped_records, "records dropped");
  add(summary.dropped_buffers, "full buffers dropped");
  add(summary.untimed_records, "records without times");
  add(summary.lost_events, "launches lost");
  add(summary.lost_strings, "names lost");
  add(summary.write_errors, "parts not written");
  return text.empty() ? "nothing" : text;
}

// Steps are compared: more digits than elsewhere.
std::string FormatStep(double us) {
  return us >= 1e6 ? fmt::format("{:.3f} s", us / 1e6) : fmt::format("{:.3f} ms", us / 1e3);
}

std::string StepText(const ModuleRuns& module) {
  const StepTimes& outside = module.outside;
  const StepTimes& inside = module.inside;
  std::string text;
  if (outside.count > 0) {
    text = fmt::format("{} (p10 {}, p90 {})", FormatStep(outside.median_us),
                       FormatStep(outside.p10_us), FormatStep(outside.p90_us));
  }
  if (inside.count > 0) {
    text += fmt::format("{}{} inside the window", text.empty() ? "" : " outside, ",
                        FormatStep(inside.median_us));
    if (outside.count > 0 && outside.median_us > 0) {
      text += fmt::format(" ({:+.1f} %)", 100 * (inside.median_us / outside.median_us - 1));
    }
  }
  return text.empty() ? "unknown: too few steps" : text;
}

void AppendModules(const CaptureSummary& summary, const CaptureReport& report, bool verbose,
                   std::string* out) {
  const bool is_windowed = report.window.mode != recorder::WindowMode::kNone;
  size_t shown = 0;
  for (const ModuleRuns& module : summary.modules) {
    if (!verbose && shown == kModulesShown) break;
    ++shown;
    *out += fmt::format(
        "  module {}: ran {} on {}", module.name,
        module.executions == 1 ? std::string("once") : fmt::format("{} times", module.executions),
        Count(module.devices, "device"));
    if (is_windowed && summary.window_seconds > 0) {
      *out += fmt::format(", {} of the device time in the window",
                          FormatPercent(module.device_time_share));
    }
    *out += fmt::format("\n    step time {}\n", StepText(module));
  }
  if (shown < summary.modules.size()) {
    *out += fmt::format("  and {}; -v lists all, --json too\n",
                        Count(summary.modules.size() - shown, "more module"));
  }
}

std::string CommandOf(const ProcessReport& process) {
  return process.summary && !process.summary->command.empty() ? ": " + process.summary->command
                                                              : "";
}

void AppendProcess(const ProcessReport& process, const CaptureReport& report, bool verbose,
                   std::string* out) {
  *out += fmt::format("process {}{}\n", process.pid, CommandOf(process));
  if (!process.summary) return;
  const CaptureSummary& summary = *process.summary;
  if (verbose && !summary.cupti_path.empty()) {
    *out += fmt::format("  CUPTI       {}: {}; driver for CUDA {}.{}\n",
                        FormatCuptiVersion(summary.cupti_version), summary.cupti_path,
                        summary.driver_version / 1000, summary.driver_version / 10 % 100);
  }
  if (summary.has_window) *out += fmt::format("  window      {}\n", WindowText(summary));
  if (process.has_trace()) {
    *out += fmt::format("  recorded    {}\n", RecordsText(summary));
    *out += fmt::format("  dropped     {}\n", LostText(summary));
  }
  AppendModules(summary, report, verbose, out);
  if (process.has_trace()) {
    *out +=
        fmt::format("  wrote       {}: {}\n", summary.output, FormatBytes(summary.output_bytes));
  }
}

}  // namespace

std::string FormatCaptureText(const CaptureReport& report, const CaptureContext& context) {
  std::string out;
  size_t helpers = 0;
  bool has_trace = false;
  for (const ProcessReport& process : report.processes) {
    if (process.module_runs == 0 && !process.has_trace() && !context.verbose) {
      helpers += !process.error;  // of a damaged recording nothing is known
      continue;
    }
    has_trace = has_trace || process.has_trace();
    AppendProcess(process, report, context.verbose, &out);
  }
  if (helpers > 0) {
    out +=
        fmt::format("{} that used CUDA ran no module of XLA\n",
                    helpers == 1 ? std::string("1 process") : fmt::format("{} processes", helpers));
  }
  if (context.verbose && has_trace && !report.command.empty()) {
    out +=
        "a jax.profiler in the program had no HLO names meanwhile: XLA gave them to this "
        "recording\n";
  }
  if (!report.autotune_file.empty()) {
    out += fmt::format(
        "autotuner's choices are in {}; they hold in later runs with\n"
        "  XLA_FLAGS=\"$XLA_FLAGS --xla_gpu_load_autotune_results_from={}\"\n",
        report.autotune_file, report.autotune_file);
  }
  if (!report.kept_directory.empty()) {
    out += fmt::format("next: pgle-capture --recover {}\n", Quote(report.kept_directory));
  } else if (has_trace) {
    out += fmt::format("next: pgle-extract {} -o profile.pb\n", Quote(report.log_directory));
  }
  return out;
}

}  // namespace pgle
