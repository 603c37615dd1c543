#include "hlo/scheduler_queries.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>

#include "hlo/xla_log_for_tests.h"
#include "io/input.h"
#include "profile/cost_profile.h"

namespace pgle {
namespace {

const std::string kRuns = PGLE_TESTDATA "/runs/";

XlaCounts Emulate(const std::string& hlo_path, const std::string& profile_path) {
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
  XlaCounts counts;
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
    uint64_t found, missing;
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
    const XlaCounts log = CountsInLog(kRuns + row.run + "/log/" + row.log + ".log.zst");
    const XlaCounts walk = Emulate(kRuns + row.run + "/hlo/" + row.hlo + hlo,
                                   kRuns + row.run + "/" + row.profile + ".pb");
    CHECK(log.found == row.found);
    CHECK(log.missing.size() == row.missing);
    CHECK(walk.found == log.found);
    CHECK(walk.missing == log.missing);
  }
}

}  // namespace
}  // namespace pgle
