#include "inspect/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "inspect/text.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

// The words for a detail behind a reason.
std::string Detail(const MissingName& missing) {
  if (missing.detail.empty()) return "";
  switch (missing.reason) {
    case CoverageReason::kRenamed:
    case CoverageReason::kLeftToXla:
      return fmt::format(": the profile has {}", missing.detail);
    case CoverageReason::kOtherModule:
      return fmt::format(": of {}", missing.detail);
    default:
      return fmt::format(": {}", missing.detail);
  }
}

// "39 renamed after scheduling, 2 asynchronous pair left to XLA", most first.
std::string ReasonCounts(const HloCoverage& module) {
  std::map<CoverageReason, size_t> counts;
  for (const MissingName& missing : module.missing) ++counts[missing.reason];
  std::vector<std::pair<CoverageReason, size_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [reason, count] : sorted) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ToString(reason));
  }
  return text;
}

// A share by time says nothing where most of what is missing has no time.
bool IsTimeKnown(const HloCoverage& module) {
  return 2 * module.missing_without_time <= module.missing.size();
}

std::string TimeText(const HloCoverage& module, bool strict) {
  if (!IsTimeKnown(module)) {
    return fmt::format(", by time unknown: {} missing have no time", module.missing_without_time);
  }
  if (module.found_us + module.missing_us + module.left_us <= 0) return "";
  std::string text = fmt::format(
      ", {} by {}", FormatPercent(module.share_by_time(strict)),
      module.times_from_trace ? "device time" : "the costs that the profile has for them");
  if (module.missing_without_time > 0) {
    text += fmt::format(" ({} missing have no time)", module.missing_without_time);
  }
  return text;
}

void AppendTarget(const HloCoverage& module, const CoverageReport& report, std::string* out) {
  *out += fmt::format("module {}: fingerprint {}, {}\n", module.module,
                      module.fingerprint.empty() ? "unknown" : module.fingerprint, module.file);
  *out += fmt::format("  coverage   {} by count{}\n", FormatPercent(module.share(report.strict)),
                      TimeText(module, report.strict));
  *out += fmt::format("  found      {}, {}; {} as XLA counts them\n",
                      Count(module.found_instructions, "instruction"),
                      FormatMicroseconds(module.found_us), Count(module.found_lookups, "look-up"));
  *out += fmt::format("  missing    {}", module.missing.size());
  if (!module.missing.empty()) {
    *out += fmt::format(", {}: {}", FormatMicroseconds(module.missing_us + module.left_us),
                        ReasonCounts(module));
  }
  *out += "\n";
  AppendList(
      module.missing, report.verbose,
      [](const MissingName& missing) {
        return fmt::format("{} ({}{})", missing.name, ToString(missing.reason), Detail(missing));
      },
      out);
  if (!module.left_to_xla.empty()) {
    *out += fmt::format("  left       {} of them, asynchronous and no collectives, {}\n",
                        module.left_to_xla.size(),
                        report.strict ? "count as missing (--strict)"
                                      : "are left to XLA's estimator and do not count");
  }
  if (!module.undecided.empty()) {
    *out += fmt::format(
        "  undecided  {}: synchronous in this HLO, so the name that XLA asks for second is lost, "
        "and the profile has one like it; the HLO of the profiled compile decides it\n",
        Count(module.undecided.size(), "collective"));
    AppendList(
        module.undecided, report.verbose, [](const std::string& name) { return name; }, out);
  }
}

}  // namespace

bool IsCovered(const CoverageReport& report, const HloCoverage& module) {
  return !report.min_share.has_value() || *report.min_share <= 0 ||
         (module.found_instructions > 0 && module.share(report.strict) >= *report.min_share);
}

bool IsCovered(const CoverageReport& report) {
  return std::all_of(report.targets.begin(), report.targets.end(),
                     [&](size_t i) { return IsCovered(report, report.modules[i]); });
}

std::string FormatCoverageText(const CoverageReport& report) {
  std::string out;
  std::vector<const HloCoverage*> others;
  for (size_t i = 0; i < report.modules.size(); ++i) {
    if (std::count(report.targets.begin(), report.targets.end(), i) > 0) {
      AppendTarget(report.modules[i], report, &out);
    } else {
      others.push_back(&report.modules[i]);
    }
  }
  if (!others.empty()) {
    out += fmt::format("{} not judged (--module chooses)\n", Count(others.size(), "module"));
    AppendList(
        others, report.verbose,
        [](const HloCoverage* module) {
          return fmt::format("{}: {} found, {} missing, {} undecided ({})", module->module,
                             module->found_instructions, module->missing.size(),
                             module->undecided.size(), module->file);
        },
        &out);
  }
  return out;
}

std::string FormatCoverageJson(const CoverageReport& report) {
  Json root;
  root["schema"] = "pgle.inspect.coverage/1";
  root["profile"] = report.profile;
  root["hlo"] = report.hlo;
  root["strict"] = report.strict;
  root["min_share"] = report.min_share ? Json(*report.min_share) : Json();
  root["covered"] = IsCovered(report);
  Json modules = Json::array();
  for (size_t i = 0; i < report.modules.size(); ++i) {
    const HloCoverage& module = report.modules[i];
    Json missing = Json::array();
    for (const MissingName& name : module.missing) {
      missing.push_back({{"name", name.name},
                         {"reason", ToString(name.reason)},
                         {"detail", name.detail},
                         {"time_us", name.has_time ? Json(name.time_us) : Json()}});
    }
    modules.push_back({{"module", module.module},
                       {"fingerprint", module.fingerprint},
                       {"file", module.file},
                       {"target", std::count(report.targets.begin(), report.targets.end(), i) > 0},
                       {"found_instructions", module.found_instructions},
                       {"found_lookups", module.found_lookups},
                       {"missing", missing},
                       {"undecided", module.undecided},
                       {"left_to_xla", module.left_to_xla},
                       {"share", module.share(report.strict)},
                       {"share_by_time",
                        IsTimeKnown(module) ? Json(module.share_by_time(report.strict)) : Json()},
                       {"times_from", module.times_from_trace ? "trace" : "profile"},
                       {"found_us", module.found_us},
                       {"missing_us", module.missing_us},
                       {"left_to_xla_us", module.left_us},
                       {"missing_without_time", module.missing_without_time}});
  }
  root["modules"] = modules;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
