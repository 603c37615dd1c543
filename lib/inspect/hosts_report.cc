#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "inspect/hosts.h"
#include "inspect/text.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kListedRanks = 8;

std::string RankList(const std::vector<size_t>& ranks, const HostsReport& report) {
  const size_t shown = report.verbose ? ranks.size() : std::min(kListedRanks, ranks.size());
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", report.comparison.ranks[ranks[i]]);
  }
  if (shown < ranks.size()) text += fmt::format(" and {} more", ranks.size() - shown);
  return text;
}

std::string Collective(const HostVariant& variant, size_t position) {
  return position < variant.collectives.size() ? variant.collectives[position]
                                               : std::string("no more");
}

void AppendVariant(const ComparedModule& module, const HostVariant& variant, bool is_reference,
                   const HostsReport& report, std::string* out) {
  *out += fmt::format("  {} {}: {}\n", Count(variant.ranks.size(), "rank"),
                      is_reference ? "(reference)" : "differ", RankList(variant.ranks, report));
  *out += fmt::format("    fingerprint {}, profile {}, {}\n",
                      variant.fingerprint.empty() ? "unknown" : variant.fingerprint,
                      variant.profile_sha256.empty()      ? "not dumped"
                      : variant.profile_sha256 == "empty" ? "none in the compile request"
                                                          : variant.profile_sha256,
                      Count(variant.collectives.size(), "collective"));
  if (is_reference) return;
  const size_t position = variant.first_other_collective;
  if (position != HostVariant::kSameOrder) {
    *out += fmt::format(
        "    another order of collectives from the {}. on: {}, in the reference "
        "{}\n",
        position + 1, Collective(variant, position), Collective(module.variants.front(), position));
  } else {
    *out += "    collectives in the same order\n";
  }
  *out += fmt::format("    {} by name, opcode or backend_config\n",
                      variant.differences.empty()
                          ? std::string("no instruction differs")
                          : fmt::format("{} {}", Count(variant.differences.size(), "instruction"),
                                        variant.differences.size() == 1 ? "differs" : "differ"));
  AppendList(
      variant.differences, report.verbose,
      [](const InstructionDifference& difference) {
        return fmt::format("  {}: {}", difference.name, difference.what);
      },
      out);
}

}  // namespace

std::string FormatHostsText(const HostsReport& report) {
  const HostsComparison& comparison = report.comparison;
  std::string out;
  size_t equal = 0;
  for (const ComparedModule& module : comparison.modules) {
    if (!module.differs() && module.absent.empty()) {
      ++equal;
      if (!report.verbose) continue;
    }
    out += fmt::format("module {}: {}\n", module.name,
                       module.variants.size() == 1
                           ? std::string("alike on all ranks that have it")
                           : fmt::format("{} variants", module.variants.size()));
    if (!module.absent.empty()) {
      out += fmt::format(
          "  {} without it{}: {}\n", Count(module.absent.size(), "rank"),
          module.differs() && module.variants.size() == 1 ? ", though it holds collectives" : "",
          RankList(module.absent, report));
    }
    if (module.variants.size() == 1 && !report.verbose) continue;
    for (size_t i = 0; i < module.variants.size(); ++i) {
      AppendVariant(module, module.variants[i], i == 0, report, &out);
    }
  }
  out += fmt::format("{}: {} of {} alike on all", Count(comparison.ranks.size(), "rank"), equal,
                     Count(comparison.modules.size(), "compiled module"));
  if (comparison.other_modules > 0) {
    out += fmt::format("; {} not compared (--module names others)",
                       Count(comparison.other_modules, "other module"));
  }
  return out + "\n";
}

std::string FormatHostsJson(const HostsReport& report) {
  const HostsComparison& comparison = report.comparison;
  Json root;
  root["schema"] = "pgle.inspect.hosts/1";
  root["ranks"] = comparison.ranks;
  root["differ"] = comparison.differs();
  root["other_modules"] = comparison.other_modules;
  Json modules = Json::array();
  for (const ComparedModule& module : comparison.modules) {
    Json variants = Json::array();
    for (const HostVariant& variant : module.variants) {
      Json differences = Json::array();
      for (const InstructionDifference& difference : variant.differences) {
        differences.push_back({{"name", difference.name}, {"what", difference.what}});
      }
      const bool same_order = variant.first_other_collective == HostVariant::kSameOrder;
      variants.push_back(
          {{"ranks", variant.ranks},
           {"file", variant.file},
           {"fingerprint", variant.fingerprint},
           {"profile_sha256", variant.profile_sha256},
           {"collectives", variant.collectives},
           {"first_other_collective", same_order ? Json() : Json(variant.first_other_collective)},
           {"differences", differences}});
    }
    modules.push_back({{"module", module.name},
                       {"differs", module.differs()},
                       {"absent_ranks", module.absent},
                       {"variants", variants}});
  }
  root["modules"] = modules;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
