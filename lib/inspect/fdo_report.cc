#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "inspect/fdo.h"
#include "inspect/module_name.h"
#include "inspect/text.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

std::string State(const FdoCompile& compile) {
  const std::string where =
      compile.is_equal ? fmt::format("equal at {}", Count(compile.points.size(), "dump point"))
                       : "not the same at every dump point";
  if (compile.is_empty()) return "empty, " + where;
  const FdoPoint& last = compile.points.back();
  return fmt::format("{}, {} bytes, sha256 {}, {}", Count(compile.profile.costs.size(), "cost"),
                     last.bytes, last.sha256.substr(0, 16), where);
}

std::string Change(const FdoCompile& before, const FdoCompile& compile) {
  if (before.is_empty() && compile.is_empty()) return "still empty";
  if (before.is_empty()) {
    return "filled since the compile before: JAX's AutoPGLE compiles again with its profile";
  }
  if (compile.is_empty()) return "empty again: this compile got no profile";
  return SummarizeDiff(*compile.change, "the compile before", "this one") +
         " against the compile before";
}

// Why nothing came with the compile request.
std::string WhyEmpty(const FdoCompile& compile) {
  if (!compile.profile_path.empty()) {
    return fmt::format(
        "empty because the profile came by path ({}), and XLA dumps only what comes "
        "with the compile request",
        compile.profile_path);
  }
  return "empty: nothing came with the compile request. A profile given by "
         "--xla_gpu_pgle_profile_file_or_directory_path never appears here; the log of the run "
         "and the coverage verb show whether it was used";
}

void AppendCompiles(const std::vector<const FdoCompile*>& compiles, const FdoReport& report,
                    std::string* out) {
  bool all_empty = true;
  for (size_t i = 0; i < compiles.size(); ++i) {
    const FdoCompile& compile = *compiles[i];
    all_empty &= compile.is_empty();
    *out += fmt::format("  {}: {}\n", compile.id, State(compile));
    if (!compile.is_equal) {
      for (const FdoPoint& point : compile.points) {
        *out += fmt::format("    {}: {} bytes, sha256 {}\n", point.point, point.bytes,
                            point.sha256.substr(0, 16));
      }
    }
    if (i > 0) *out += fmt::format("    {}\n", Change(*compiles[i - 1], compile));
    if (compile.against) {
      *out += fmt::format("    against {}: {}\n", report.profile,
                          SummarizeDiff(*compile.against, report.profile, "this one"));
    }
  }
  if (all_empty) *out += fmt::format("  {}\n", WhyEmpty(*compiles.back()));
}

Json DiffJson(const ProfileDiff& diff) {
  return {{"equal", diff.equal},
          {"changed", diff.changed.size()},
          {"only_in_other", diff.only_in_a.size()},
          {"only_here", diff.only_in_b.size()}};
}

}  // namespace

std::string FormatFdoText(const FdoReport& report) {
  std::map<std::string, std::vector<const FdoCompile*>> by_module;
  for (const FdoCompile& compile : report.compiles) by_module[compile.module].push_back(&compile);
  std::string out;
  size_t others = 0;
  for (const auto& [module, compiles] : by_module) {
    // The small modules of JAX and the autotuner get nothing, and would bury the rest.
    bool is_worth = report.verbose || IsFrameworkModule(module);
    for (const FdoCompile* compile : compiles) is_worth |= !compile->is_empty();
    if (!is_worth && by_module.size() > 1) {
      ++others;
      continue;
    }
    out += fmt::format("module {}: {}\n", module, Count(compiles.size(), "compile"));
    AppendCompiles(compiles, report, &out);
  }
  if (others > 0) {
    out += fmt::format("{} with empty files only; -v lists all, --json too\n",
                       Count(others, "other module"));
  }
  return out;
}

std::string FormatFdoJson(const FdoReport& report) {
  Json root;
  root["schema"] = "pgle.inspect.fdo/1";
  root["folder"] = report.folder;
  root["profile"] = report.profile.empty() ? Json() : Json(report.profile);
  Json compiles = Json::array();
  for (const FdoCompile& compile : report.compiles) {
    Json points = Json::array();
    for (const FdoPoint& point : compile.points) {
      points.push_back({{"point", point.point},
                        {"file", point.file},
                        {"bytes", point.bytes},
                        {"sha256", point.sha256}});
    }
    compiles.push_back(
        {{"module", compile.module},
         {"id", compile.id},
         {"empty", compile.is_empty()},
         {"costs", compile.profile.costs.size()},
         {"equal_at_all_points", compile.is_equal},
         {"points", points},
         {"profile_path", compile.profile_path.empty() ? Json() : Json(compile.profile_path)},
         {"since_compile_before", compile.change ? DiffJson(*compile.change) : Json()},
         {"against_profile", compile.against ? DiffJson(*compile.against) : Json()}});
  }
  root["compiles"] = compiles;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
