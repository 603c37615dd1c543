#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "inspect/profile_diff.h"
#include "inspect/text.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

std::string FormatRelative(const CostChange& change) {
  if (std::isinf(change.relative())) return "from 0";
  return fmt::format("{:+.1f} %", 100 * change.relative());
}

Json OnlyJson(const std::vector<InstructionCost>& costs) {
  Json list = Json::array();
  for (const InstructionCost& cost : costs) {
    list.push_back({{"name", cost.name}, {"cost_us", cost.cost_us}});
  }
  return list;
}

void AppendOnly(const std::vector<InstructionCost>& costs, const std::string& file, bool verbose,
                std::string* out) {
  if (costs.empty()) return;
  *out += fmt::format("{} only in {}\n", costs.size(), file);
  AppendList(
      costs, verbose,
      [](const InstructionCost& cost) {
        return fmt::format("{:>10.2f} us  {}", cost.cost_us, cost.name);
      },
      out);
}

}  // namespace

std::string SummarizeDiff(const ProfileDiff& diff, const std::string& a, const std::string& b) {
  if (diff.empty()) return "equal";
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!diff.changed.empty()) {
    add(fmt::format("{} {}, the most by {}", Count(diff.changed.size(), "cost"),
                    diff.changed.size() == 1 ? "differs" : "differ",
                    std::isinf(diff.changed.front().relative())
                        ? fmt::format("{:.2f} us from 0", diff.changed.front().b_us)
                        : FormatRelative(diff.changed.front())));
  }
  if (!diff.only_in_a.empty()) add(fmt::format("{} only in {}", diff.only_in_a.size(), a));
  if (!diff.only_in_b.empty()) add(fmt::format("{} only in {}", diff.only_in_b.size(), b));
  return text;
}

std::string FormatDiffText(const DiffReport& report) {
  const ProfileDiff& diff = report.diff;
  std::string out = fmt::format("{} of {} equal", diff.equal,
                                Count(diff.equal + diff.changed.size(), "common name"));
  if (diff.common_a_us > 0) {
    out += fmt::format("; total of the common ones {} -> {} ({:+.1f} %)",
                       FormatMicroseconds(diff.common_a_us), FormatMicroseconds(diff.common_b_us),
                       100 * (diff.common_b_us / diff.common_a_us - 1));
  }
  out += "\n";
  if (!diff.fingerprints_a.empty() && !diff.fingerprints_b.empty() &&
      diff.fingerprints_a != diff.fingerprints_b) {
    out += "the fingerprints differ: one module was compiled differently, or these are two\n";
  }
  if (!diff.changed.empty()) {
    out += fmt::format("{} changed\n", diff.changed.size());
    AppendList(
        diff.changed, report.verbose,
        [](const CostChange& change) {
          return fmt::format("{:>9}  {:>10.2f} -> {:>10.2f} us  {}", FormatRelative(change),
                             change.a_us, change.b_us, change.name);
        },
        &out);
  }
  AppendOnly(diff.only_in_a, report.a, report.verbose, &out);
  AppendOnly(diff.only_in_b, report.b, report.verbose, &out);
  return out;
}

std::string FormatDiffJson(const DiffReport& report) {
  const ProfileDiff& diff = report.diff;
  Json root;
  root["schema"] = "pgle.inspect.diff/1";
  root["a"] = report.a;
  root["b"] = report.b;
  root["fingerprints_a"] = diff.fingerprints_a;
  root["fingerprints_b"] = diff.fingerprints_b;
  root["equal"] = diff.equal;
  root["common_a_us"] = diff.common_a_us;
  root["common_b_us"] = diff.common_b_us;
  Json changed = Json::array();
  for (const CostChange& change : diff.changed) {
    const double relative = change.relative();
    changed.push_back({{"name", change.name},
                       {"a_us", change.a_us},
                       {"b_us", change.b_us},
                       {"relative", std::isinf(relative) ? Json() : Json(relative)}});
  }
  root["changed"] = changed;
  root["only_in_a"] = OnlyJson(diff.only_in_a);
  root["only_in_b"] = OnlyJson(diff.only_in_b);
  root["fail_over"] = report.has_limit ? Json(report.limit) : Json();
  root["over"] = report.has_limit ? Json(diff.Over(report.limit)) : Json();
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
