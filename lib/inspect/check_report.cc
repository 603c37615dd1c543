#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "inspect/check.h"

namespace pgle {

using nlohmann::ordered_json;

namespace {

constexpr size_t kShownTargets = 20;  // of each verdict
constexpr size_t kShownOthers = 10;

std::string Where(const ModuleVerdict& module) {
  std::string where = module.file;
  if (!module.label.empty()) where += fmt::format(" [{}]", module.label);
  if (module.attempt > 1) where += fmt::format(" (start {})", module.attempt);
  return where;
}

std::string Line(const ModuleVerdict& module, bool with_cause) {
  std::string out = fmt::format("{}: {}", module.module.empty() ? "(process)" : module.module,
                                VerdictName(module.verdict));
  if (module.found && module.missing) {
    out +=
        fmt::format(", {} look-ups found, {} instructions missing", *module.found, *module.missing);
    if (const auto share = module.share()) out += fmt::format(" ({:.1f} %)", 100 * *share);
    if (module.emulated) out += " by --hlo and the profile";
  } else if (module.verdict == Verdict::kUsed) {
    out += ", nothing missing";
  }
  if (!module.source.empty()) out += fmt::format(", from {}", module.source);
  if (!module.file.empty()) out += fmt::format(" [{}]", Where(module));
  out += '\n';
  if (!with_cause) return out;
  if (!module.cause.empty()) out += fmt::format("  cause: {}\n", module.cause);
  if (!module.fix.empty() && module.verdict != Verdict::kUsed) {
    out += fmt::format("  next:  {}\n", module.fix);
  }
  return out;
}

template <typename T>
ordered_json OrNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

std::string FormatCheckText(const CheckReport& report, bool verbose) {
  std::string out;
  std::map<Verdict, size_t> shown;
  size_t others = 0, hidden = 0;
  for (const ModuleVerdict& module : report.modules) {
    if (module.is_target) {
      if (verbose || ++shown[module.verdict] <= kShownTargets) out += Line(module, true);
    } else if (verbose || ++others <= kShownOthers) {
      out += "also " + Line(module, verbose);
    } else {
      ++hidden;
    }
  }
  for (const auto& [verdict, count] : shown) {
    if (count <= kShownTargets) continue;
    out += fmt::format("{} targets more: {} (-v lists them)\n", count - kShownTargets,
                       VerdictName(verdict));
  }
  if (hidden > 0) out += fmt::format("{} more modules (-v lists them)\n", hidden);
  if (report.small_modules.compiles > 0) {
    out += fmt::format(
        "{} compiles of small modules ({} names, the autotuner's): {} look-ups found, "
        "{} instructions missing\n",
        report.small_modules.compiles, report.small_modules.stems, report.small_modules.found,
        report.small_modules.missing);
  }
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  out += fmt::format("verdict: {} (for {})\n", VerdictName(report.verdict), report.target);
  return out;
}

std::string FormatCheckJson(const CheckReport& report, double min_coverage) {
  ordered_json modules = ordered_json::array();
  for (const ModuleVerdict& module : report.modules) {
    modules.push_back({{"module", module.module},
                       {"fingerprint", module.fingerprint},
                       {"target", module.is_target},
                       {"verdict", VerdictName(module.verdict)},
                       {"file", module.file},
                       {"process", module.label},
                       {"start", module.attempt},
                       {"source", module.source},
                       {"found_lookups", OrNull(module.found)},
                       {"missing_instructions", OrNull(module.missing)},
                       {"coverage", OrNull(module.share())},
                       {"emulated", module.emulated},
                       {"cause", module.cause},
                       {"fix", module.fix}});
  }
  ordered_json findings = ordered_json::array();
  if (report.flags) {
    for (const FlagFinding& finding : report.flags->findings) {
      findings.push_back({{"kind", FindingKindName(finding.kind)},
                          {"id", finding.id},
                          {"cause", finding.cause},
                          {"fix", finding.fix}});
    }
  }
  const ordered_json json = {{"schema", "pgle.inspect.check/1"},
                             {"verdict", VerdictName(report.verdict)},
                             {"target", report.target},
                             {"min_coverage", min_coverage},
                             {"modules", modules},
                             {"small_modules",
                              {{"names", report.small_modules.stems},
                               {"compiles", report.small_modules.compiles},
                               {"found_lookups", report.small_modules.found},
                               {"missing_instructions", report.small_modules.missing}}},
                             {"flag_findings", findings},
                             {"notes", report.notes}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
