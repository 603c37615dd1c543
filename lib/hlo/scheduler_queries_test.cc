#include "hlo/scheduler_queries.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "io/input.h"
#include "profile/cost_profile.h"

namespace pgle {
namespace {

const std::string kRuns = PGLE_TESTDATA "/runs/";

struct Counts {
  int found = 0;
  std::set<std::string> missing;
};

// XLA's figures for jit_train_step in a log: "Found N instructions" and the missing names.
Counts FromLog(const std::string& path) {
  const auto input = Input::Open(path);
  REQUIRE(input.ok());
  Counts counts;
  bool in_module = false;
  std::istringstream lines{std::string(input->bytes())};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Found profile for module") != std::string::npos) {
      in_module = line.find("module jit_train_step,") != std::string::npos;
      if (in_module) counts = {};
    }
    const size_t text = line.find("] ");
    if (!in_module || text == std::string::npos ||
        line.find("latency_estimator.cc") == std::string::npos) {
      continue;
    }
    const std::string message = line.substr(text + 2);
    if (message.rfind("Found ", 0) == 0) counts.found = std::stoi(message.substr(6));
    if (message.rfind("  ", 0) == 0) counts.missing.insert(message.substr(2));
  }
  return counts;
}

Counts Emulate(const std::string& hlo_path, const std::string& profile_path) {
  const auto hlo = Input::Open(hlo_path);
  REQUIRE(hlo.ok());
  const auto module = ParseHlo(hlo->bytes(), hlo_path);
  REQUIRE(module.ok());
  const auto profile = ReadProfile(profile_path);
  REQUIRE(profile.ok());
  std::set<std::string> names;
  for (const InstructionCost& cost : profile->costs) {
    const size_t separator = cost.name.find("::");
    if (separator == std::string::npos)
      names.insert(cost.name);
    else if (cost.name.substr(0, separator) == module->fingerprint())
      names.insert(cost.name.substr(separator + 2));
  }
  // XLA strips ".remat<digits>" once any name has it.
  std::set<std::string> stripped;
  for (const std::string& name : names) stripped.insert(name.substr(0, name.rfind(".remat")));
  names = std::move(stripped);
  Counts counts;
  for (const SchedulerQuery& query : SchedulerQueries(*module)) {
    const bool own = names.count(std::string(query.name)) > 0;
    const bool either = own || names.count(std::string(query.wrapped_name)) > 0;
    if (query.kind == QueryKind::kCollective ? either : own)
      ++counts.found;
    else if (!query.is_free)
      counts.missing.insert(std::string(query.name));
    if (query.kind == QueryKind::kAsyncStart && either) ++counts.found;
  }
  return counts;
}

TEST_CASE("the walk asks for what XLA's accuracy checker asks for") {
  const std::string hlo = ".jit_train_step.sm_9.0a_gpu_after_optimizations.hlo.pb.zst";
  struct Row {
    std::string run, hlo, profile, log;
    int found, missing;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"fsdp_unrolled", "profiled/module_2667", "jaxlib_profile", "recompile_jaxlib_profile",
            456, 41},
           {"fsdp_unrolled", "profiled/module_2667", "qualified_profile",
            "recompile_qualified_profile", 456, 41},
           {"fsdp_scan", "profiled/module_2667", "jaxlib_profile", "recompile_jaxlib_profile", 153,
            50},
           {"fsdp_scan", "profiled/module_2667", "qualified_profile", "recompile_qualified_profile",
            153, 50},
           {"fsdp_slow_link", "profiled/module_2667", "jaxlib_profile", "recompile_jaxlib_profile",
            456, 41},
           {"autotune_drift", "recompiled/module_2667", "jaxlib_profile",
            "recompile_jaxlib_profile", 356, 14},
           {"two_modules", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile", 55,
            2},
           {"permute", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile", 73,
            21},
           {"tensor_parallel", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile",
            96, 5},
           {"experts", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile", 92, 6},
           {"conv", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile", 52, 3},
           {"conditional", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile", 34,
            4},
           {"remat", "profiled/module_0000", "jaxlib_profile", "recompile_jaxlib_profile", 107,
            23}}) {
    CAPTURE(row.run);
    CAPTURE(row.profile);
    const Counts log = FromLog(kRuns + row.run + "/log/" + row.log + ".log.zst");
    const Counts walk = Emulate(kRuns + row.run + "/hlo/" + row.hlo + hlo,
                                kRuns + row.run + "/" + row.profile + ".pb");
    CHECK(log.found == row.found);
    CHECK(static_cast<int>(log.missing.size()) == row.missing);
    CHECK(walk.found == log.found);
    CHECK(walk.missing == log.missing);
  }
}

}  // namespace
}  // namespace pgle
