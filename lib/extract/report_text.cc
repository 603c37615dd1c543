#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "extract/report.h"

namespace pgle {
namespace {

constexpr size_t kNamesShown = 10;

double Percent(double part, double whole) {
  return whole <= 0 ? 0 : 100 * part / whole;
}
double Percent(Picoseconds part, Picoseconds whole) {
  return Percent(static_cast<double>(part), static_cast<double>(whole));
}

// 12345678 ps as "12.3 us", with the unit that fits.
std::string FormatTime(Picoseconds ps) {
  const double us = ToMicroseconds(ps);
  if (us >= 1e6) return fmt::format("{:.2f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.1f} ms", us / 1e3);
  return fmt::format("{:.1f} us", us);
}

// "1 device", "2 devices".
std::string Count(uint64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

Picoseconds Sum(const std::array<Picoseconds, 4>& parts) {
  return std::accumulate(parts.begin(), parts.end(), Picoseconds{0});
}

std::string FormatUnattributed(const std::array<Picoseconds, 4>& parts, Picoseconds busy) {
  static constexpr const char* kKinds[] = {"other", "kernels", "copies", "memsets"};
  std::string text;
  for (size_t kind : {1, 2, 3, 0}) {
    if (parts[kind] == 0) continue;
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", kKinds[kind],
                        Percent(parts[kind], busy));
  }
  return text;
}

void AppendMissing(const ModuleCoverage& coverage, bool verbose, std::string* out) {
  const size_t shown =
      verbose ? coverage.missing.size() : std::min(kNamesShown, coverage.missing.size());
  for (size_t i = 0; i < shown; ++i) {
    *out += fmt::format("    missing {} ({})\n", coverage.missing[i].name,
                        ToString(coverage.missing[i].reason));
  }
  if (shown < coverage.missing.size()) {
    *out +=
        fmt::format("    and {} more; -v lists all, --json too\n", coverage.missing.size() - shown);
  }
}

// A path inside the double quotes of a shell command; XLA reads quotes in XLA_FLAGS as a shell
// does.
std::string ShellQuote(const std::string& path) {
  std::string quoted;
  for (const char c : path) {
    if (c == '"' || c == '$' || c == '`' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted.find(' ') == std::string::npos ? quoted : "'" + quoted + "'";
}

std::string CostLine(const ModuleReport& module) {
  uint64_t total = 0;
  for (const auto& [source, count] : module.costs_by_source) total += count;
  std::string parts;
  for (const auto& [source, count] : module.costs_by_source) {
    if (source == CostSource::kMeasured) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, ToString(source));
  }
  std::string line = Count(total, "instruction");
  if (!parts.empty()) line += " (" + parts + ")";
  if (module.has_scheduling_names && module.own_names > 0) {
    line += fmt::format("; {} under their own names, added after scheduling", module.own_names);
  }
  return line;
}

std::string CoverageLine(const ModuleReport& module, bool strict) {
  const ModuleCoverage& coverage = module.coverage;
  if (!coverage.known) return "unknown: the HLO of this module is not at hand (--hlo gives it)";
  std::string line = fmt::format(
      "{:.1f} % of {} that the scheduler asks for, {:.1f} % of their device time",
      100 * coverage.by_count(strict),
      Count(coverage.found + coverage.missing.size() + (strict ? coverage.left_to_xla.size() : 0),
            "instruction"),
      100 * coverage.by_time(strict));
  if (!coverage.left_to_xla.empty()) {
    line += fmt::format("; {} asynchronous {} left to XLA", coverage.left_to_xla.size(),
                        strict ? "ones count as missing, being" : "ones");
  }
  line +=
      coverage.xla_missing == 0
          ? std::string("\n              XLA will log no count for it, since nothing is missing")
          : fmt::format("\n              XLA will log: found {}, missing {}", coverage.xla_found,
                        coverage.xla_missing);
  return line;
}

std::string TransferLine(const TransferReport& transfer) {
  std::string line = fmt::format("{} of {} matched over their participants", transfer.matched,
                                 Count(transfer.matched + transfer.unmatched, "execution"));
  if (transfer.matched > 0) {
    line += fmt::format("; {} of {} was above the fastest participant and is left out ({:.1f} %)",
                        FormatTime(transfer.removed), FormatTime(transfer.plain),
                        Percent(transfer.removed, transfer.plain));
  }
  if (transfer.idle > 0) line += fmt::format("; {} of idle devices left out", transfer.idle);
  return line;
}

void AppendModule(const ModuleReport& module, const Extraction& extraction,
                  const ReportContext& context, std::string* out) {
  *out += fmt::format("module {}: fingerprint {}\n", module.name,
                      module.fingerprint.empty() ? "unknown" : module.fingerprint);
  *out += fmt::format(
      "  ran         {} over all devices, {} of instructions, {:.1f} % of the "
      "device time\n",
      Count(module.runs, "time"), Count(module.executions, "execution"),
      Percent(module.busy, extraction.busy));
  *out += fmt::format("  costs       {}\n", CostLine(module));
  *out += fmt::format("  coverage    {}\n", CoverageLine(module, context.strict));
  AppendMissing(module.coverage, context.verbose, out);
  if (module.transfer.matched + module.transfer.unmatched > 0) {
    *out += fmt::format("  collectives {}\n", TransferLine(module.transfer));
  }
}

}  // namespace

const char* ToString(CostSource source) {
  switch (source) {
    case CostSource::kMeasured:
      return "measured";
    case CostSource::kAsyncPair:
      return "of asynchronous pairs";
    case CostSource::kNoActivity:
      return "ran without a kernel: 0";
    case CostSource::kCalled:
      return "summed over called computations";
    case CostSource::kAlias:
      return "run-time aliases";
  }
  return "";
}

std::string FormatReportText(const Extraction& extraction, const ReportContext& context) {
  std::string out;
  for (const ProcessReport& process : extraction.processes) {
    out += fmt::format("read {}: {}, {}\n", process.name, Count(process.devices.size(), "device"),
                       Count(process.events, "event"));
  }
  for (const ModuleReport& module : extraction.modules) {
    AppendModule(module, extraction, context, &out);
  }
  if (extraction.modules.size() > 1) {
    out += fmt::format("coverage over all modules: {:.1f} % by count, {:.1f} % by device time\n",
                       100 * extraction.coverage_by_count(context.strict),
                       100 * extraction.coverage_by_time(context.strict));
  }
  if (Sum(extraction.unattributed) > 0) {
    out += fmt::format("device time without an op: {:.1f} % ({})\n",
                       Percent(Sum(extraction.unattributed), extraction.busy),
                       FormatUnattributed(extraction.unattributed, extraction.busy));
  }
  if (!context.output.empty()) {
    out += fmt::format("wrote {}: {}, keys {}, {} of the executions\n", context.output,
                       Count(extraction.keyed.profile.costs.size(), "cost"),
                       ToString(extraction.keyed.mode), context.statistic);
  }
  for (const std::string& file : context.also_written) out += fmt::format("wrote {}\n", file);
  if (!context.output.empty() && context.output != "-") {
    std::error_code error;
    out += fmt::format(
        "next: XLA_FLAGS=\"$XLA_FLAGS --xla_gpu_pgle_profile_file_or_directory_path={}\" "
        "TF_CPP_MIN_LOG_LEVEL=0 COMMAND\n",
        ShellQuote(std::filesystem::absolute(context.output, error).lexically_normal()));
  }
  return out;
}

Diagnostics ReportWarnings(const Extraction& extraction) {
  Diagnostics warnings;
  const Picoseconds without_op = Sum(extraction.unattributed);
  if (Percent(without_op, extraction.busy) >= 5) {
    warnings.Warn("trace",
                  fmt::format("{:.1f} % of the device time belongs to no instruction ({})",
                              Percent(without_op, extraction.busy),
                              FormatUnattributed(extraction.unattributed, extraction.busy)),
                  "work outside XLA, or an NVTX tool took the annotations away: record again "
                  "without nsys or other tools");
  }
  for (const ModuleReport& module : extraction.modules) {
    if (!module.unknown_ops.empty()) {
      warnings.Warn(
          module.name,
          fmt::format("{} of the trace {} not in its HLO, {:.1f} % of the device time: "
                      "{}{}",
                      Count(module.unknown_ops.size(), "op"),
                      module.unknown_ops.size() == 1 ? "is" : "are",
                      Percent(module.unknown_busy, extraction.busy), module.unknown_ops.front(),
                      module.unknown_ops.size() > 1 ? ", ..." : ""),
          "the HLO is not that of the traced run: give the right dump");
    }
    if (module.transfer.small_groups > 0) {
      warnings.Warn(module.name,
                    fmt::format("{} span more devices than were traced: their times may hold "
                                "waiting for the others",
                                Count(module.transfer.small_groups, "collective")),
                    "give the traces of all processes in one call, or merge samples with "
                    "pgle-merge");
    }
  }
  // Last, since it is the most common cause of a useless profile.
  for (const ModuleReport& module : extraction.modules) {
    if (module.command_buffers == 0) continue;
    uint64_t hidden = 0;
    for (const MissingInstruction& missing : module.coverage.missing) {
      hidden += missing.reason == MissingReason::kCommandBuffer ? 1 : 0;
    }
    warnings.Warn(module.name,
                  fmt::format("{:.1f} % of the device time is in {} that hide{} {}",
                              Percent(module.command_buffer_busy, extraction.busy),
                              Count(module.command_buffers, "command buffer"),
                              module.command_buffers == 1 ? "s" : "",
                              module.coverage.known ? Count(hidden, "instruction")
                                                    : std::string("their instructions")),
                  "record with pgle-capture, which names what is in them, or with "
                  "XLA_FLAGS=--xla_gpu_enable_command_buffer= (nothing behind the =)");
  }
  return warnings;
}

}  // namespace pgle
