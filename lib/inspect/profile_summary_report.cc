#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/profile_summary.h"
#include "inspect/text.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

double Percent(double part, double whole) {
  return whole <= 0 ? 0 : 100 * part / whole;
}

void AppendWarnings(const ProfileSummary& summary, std::string* out) {
  if (!summary.repeated.empty()) {
    *out += fmt::format("{} more than once, the last entry wins: {}{}\n",
                        Count(summary.repeated.size(), "name"), summary.repeated.front(),
                        summary.repeated.size() > 1 ? ", ..." : "");
  }
  if (!summary.dropped.empty()) {
    *out += fmt::format("{} that XLA drops, '::' in the instruction's name: {}{}\n",
                        fmt::format("{} {}", summary.dropped.size(),
                                    summary.dropped.size() == 1 ? "entry" : "entries"),
                        summary.dropped.front(), summary.dropped.size() > 1 ? ", ..." : "");
  }
  if (summary.has_remat) {
    *out += "names with .remat: XLA strips that suffix and averages names that are then equal\n";
  }
}

}  // namespace

std::string FormatShowText(const ShowReport& report) {
  const ProfileSummary& summary = report.summary;
  std::string out = fmt::format("{}: {} entries, {} ({} of cost 0), {} in all\n", report.profile,
                                summary.entries, Count(summary.instructions, "instruction"),
                                summary.zeros, FormatMicroseconds(summary.total_us));
  if (summary.bare > 0) {
    out += fmt::format("  {} without a fingerprint, for every module\n", summary.bare);
  }
  for (const auto& [fingerprint, entries] : summary.fingerprints) {
    out += fmt::format("  {} for fingerprint {}\n", entries, fingerprint);
  }
  AppendWarnings(summary, &out);
  out += "by class, as the names tell it\n";
  for (const ClassTotal& total : summary.classes) {
    out += fmt::format("  {:<22} {:>6}  {:>12.2f} us  {:>5.1f} %\n", total.name, total.instructions,
                       total.us, Percent(total.us, summary.total_us));
  }
  const size_t shown = std::min(report.top, summary.costs.size());
  out += fmt::format("largest costs\n");
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("  {:>12.2f} us  {:>5.1f} %  {}\n", summary.costs[i].cost_us,
                       Percent(summary.costs[i].cost_us, summary.total_us), summary.costs[i].name);
  }
  if (shown < summary.costs.size()) {
    out += fmt::format("  and {} more; -v lists all, --json too\n", summary.costs.size() - shown);
  }
  return out;
}

std::string FormatShowJson(const ShowReport& report) {
  const ProfileSummary& summary = report.summary;
  Json root;
  root["schema"] = "pgle.inspect.show/1";
  root["profile"] = report.profile;
  root["entries"] = summary.entries;
  root["bare_entries"] = summary.bare;
  Json fingerprints = Json::array();
  for (const auto& [fingerprint, entries] : summary.fingerprints) {
    fingerprints.push_back({{"fingerprint", fingerprint}, {"entries", entries}});
  }
  root["fingerprints"] = fingerprints;
  root["instructions"] = summary.instructions;
  root["zero_costs"] = summary.zeros;
  root["total_us"] = summary.total_us;
  Json classes = Json::array();
  for (const ClassTotal& total : summary.classes) {
    classes.push_back(
        {{"class", total.name}, {"instructions", total.instructions}, {"total_us", total.us}});
  }
  root["classes"] = classes;
  Json costs = Json::array();
  for (const InstructionCost& cost : summary.costs) {
    costs.push_back({{"name", cost.name}, {"cost_us", cost.cost_us}});
  }
  root["costs"] = costs;
  root["repeated_names"] = summary.repeated;
  root["dropped_names"] = summary.dropped;
  root["has_remat"] = summary.has_remat;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
