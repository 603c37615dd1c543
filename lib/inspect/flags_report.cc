#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/flag_findings.h"

namespace pgle {

using nlohmann::ordered_json;

std::string FormatFlagsText(const FlagReport& report) {
  std::string out;
  if (!report.flags.file.empty()) out += fmt::format("read from the file {}\n", report.flags.file);
  out += fmt::format("effective flags: {}\n", report.flags.flags.size());
  for (const XlaFlag& flag : report.flags.flags) {
    out += fmt::format("  {}{}{}\n", flag.name, flag.value ? "=" : "", flag.value.value_or(""));
  }
  for (const FlagFinding& finding : report.findings) {
    out += fmt::format("{}: {}; {}\n", FindingKindName(finding.kind), finding.cause, finding.fix);
  }
  out += report.profile_would_be_used()
             ? fmt::format("XLA would read a profile: {}\n",
                           report.auto_pgle ? "from JAX (fdo_profile)" : report.profile_path)
             : "XLA would read no profile, or not the one that is meant\n";
  return out;
}

std::string FormatFlagsJson(const FlagReport& report) {
  ordered_json flags = ordered_json::array(), findings = ordered_json::array();
  for (const XlaFlag& flag : report.flags.flags) {
    flags.push_back({{"name", flag.name},
                     {"value", flag.value ? ordered_json(*flag.value) : ordered_json(nullptr)}});
  }
  for (const FlagFinding& finding : report.findings) {
    findings.push_back({{"kind", FindingKindName(finding.kind)},
                        {"id", finding.id},
                        {"cause", finding.cause},
                        {"fix", finding.fix}});
  }
  const ordered_json json = {{"schema", "pgle.inspect.flags/1"},
                             {"file", report.flags.file},
                             {"flags", flags},
                             {"stopped_at", report.flags.stopped_at},
                             {"dropped", report.flags.dropped},
                             {"profile_path", report.profile_path},
                             {"auto_pgle", report.auto_pgle},
                             {"profile_would_be_used", report.profile_would_be_used()},
                             {"findings", findings}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
