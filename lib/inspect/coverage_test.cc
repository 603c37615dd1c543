#include "inspect/coverage.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "hlo/xla_log_for_tests.h"
#include "inspect/applied_profile.h"
#include "inspect/coverage_report.h"
#include "inspect/missing_reason.h"
#include "inspect/read_profile.h"
#include "inspect/target.h"
#include "inspect/trace_times.h"

namespace pgle {
namespace {

const std::string kRuns = PGLE_TESTDATA "/runs/";
const std::string kOptimized = "jit_train_step.sm_9.0a_gpu_after_optimizations.";

CostProfile Profile(const std::string& path) {
  auto profile = ReadAnyProfile(kRuns + path, "/tmp");
  REQUIRE(profile.ok());
  return std::move(*profile);
}

HloCoverage Coverage(const std::string& hlo, const CostProfile& profile) {
  auto coverage = CoverageOf(kRuns + hlo, profile, "/tmp");
  if (!coverage.ok()) FAIL(coverage.error().what);
  REQUIRE(coverage->size() == 1);
  return std::move(coverage->front());
}

std::set<std::string> Names(const HloCoverage& coverage) {
  std::set<std::string> names;
  for (const MissingName& missing : coverage.missing) names.insert(missing.name);
  CHECK(names.size() == coverage.missing.size());
  return names;
}

std::map<std::string, int> Reasons(const HloCoverage& coverage) {
  std::map<std::string, int> counts;
  for (const MissingName& missing : coverage.missing) ++counts[ToString(missing.reason)];
  return counts;
}

HloModule Module(const std::string& text) {
  auto module = ParseHloText(text, "test");
  if (!module.ok()) FAIL(module.error().what);
  return std::move(*module);
}

TEST_CASE("found and missing are XLA's own") {
  struct Row {
    std::string hlo, profile, log;
    uint64_t found, missing;
  };
  const std::string pb = kOptimized + "hlo.pb.zst", txt = kOptimized + "txt.zst";
  for (const Row& row : std::initializer_list<Row>{
           {"fsdp_unrolled/hlo/profiled/module_2667." + pb, "fsdp_unrolled/jaxlib_profile.pb",
            "fsdp_unrolled/log/recompile_jaxlib_profile", 456, 41},
           {"fsdp_unrolled/hlo/profiled/module_2667." + txt, "fsdp_unrolled/jaxlib_profile.pb",
            "fsdp_unrolled/log/recompile_jaxlib_profile", 456, 41},
           {"fsdp_unrolled/hlo/profiled/module_2667." + pb, "fsdp_unrolled/qualified_profile.pb",
            "fsdp_unrolled/log/recompile_qualified_profile", 456, 41},
           {"fsdp_scan/hlo/profiled/module_2667." + pb, "fsdp_scan/jaxlib_profile.pb",
            "fsdp_scan/log/recompile_jaxlib_profile", 153, 50},
           {"fsdp_scan/hlo/profiled/module_2667." + txt, "fsdp_scan/qualified_profile.pb",
            "fsdp_scan/log/recompile_qualified_profile", 153, 50},
           {"fsdp_slow_link/hlo/profiled/module_2667." + pb, "fsdp_slow_link/jaxlib_profile.pb",
            "fsdp_slow_link/log/recompile_jaxlib_profile", 456, 41},
           {"autotune_drift/hlo/recompiled/module_2667." + pb, "autotune_drift/jaxlib_profile.pb",
            "autotune_drift/log/recompile_jaxlib_profile", 356, 14},
           {"auto_pgle/dump/module_2667." + pb,
            "auto_pgle/dump/module_443231.jit_train_step.before_optimizations.fdo_profile",
            "auto_pgle/log/train", 243, 23}}) {
    CAPTURE(row.hlo);
    CAPTURE(row.profile);
    const XlaCounts log = CountsInLog(kRuns + row.log + ".log.zst");
    REQUIRE(log.found == row.found);
    REQUIRE(log.missing.size() == row.missing);
    const HloCoverage coverage = Coverage(row.hlo, Profile(row.profile));
    CHECK(coverage.found_lookups == log.found);
    CHECK(Names(coverage) == log.missing);
    CHECK(coverage.undecided.empty());
  }
}

TEST_CASE("nothing is missing once the costs carry scheduling-time names") {
  const HloCoverage coverage =
      Coverage("fsdp_slow_link/hlo/profiled/module_2667." + kOptimized + "hlo.pb.zst",
               Profile("fsdp_slow_link/scheduling_names_profile.pb"));
  CHECK(coverage.missing.empty());
  CHECK(coverage.undecided.empty());
  CHECK(coverage.share(true) == 1);
}

TEST_CASE("text and proto of one module give the same answers") {
  for (const std::string& run : {std::string("fsdp_unrolled"), std::string("fsdp_scan")}) {
    const CostProfile profile = Profile(run + "/jaxlib_profile.pb");
    const std::string stem = run + "/hlo/profiled/module_2667." + kOptimized;
    const HloCoverage proto = Coverage(stem + "hlo.pb.zst", profile);
    const HloCoverage text = Coverage(stem + "txt.zst", profile);
    CHECK(proto.fingerprint == text.fingerprint);
    CHECK(proto.found_instructions == text.found_instructions);
    CHECK(proto.left_to_xla == text.left_to_xla);
    CHECK(proto.found_us == doctest::Approx(text.found_us));
    REQUIRE(proto.missing.size() == text.missing.size());
    for (size_t i = 0; i < proto.missing.size(); ++i) {
      CHECK(proto.missing[i].name == text.missing[i].name);
      CHECK(proto.missing[i].reason == text.missing[i].reason);
      CHECK(proto.missing[i].detail == text.missing[i].detail);
    }
  }
}

TEST_CASE("with the HLO of a later compile, what lost its wrapped name is undecided") {
  struct Row {
    std::string hlo, profile, log;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"fsdp_unrolled/hlo/recompiled/module_2648.", "fsdp_unrolled/jaxlib_profile.pb",
            "fsdp_unrolled/log/recompile_jaxlib_profile"},
           {"fsdp_scan/hlo/recompiled/module_2648.", "fsdp_scan/jaxlib_profile.pb",
            "fsdp_scan/log/recompile_jaxlib_profile"},
           {"auto_pgle/dump/module_443231.",
            "auto_pgle/dump/module_443231.jit_train_step.before_optimizations.fdo_profile",
            "auto_pgle/log/train"}}) {
    CAPTURE(row.hlo);
    const XlaCounts log = CountsInLog(kRuns + row.log + ".log.zst");
    const HloCoverage coverage =
        Coverage(row.hlo + kOptimized + "hlo.pb.zst", Profile(row.profile));
    const std::set<std::string> missing = Names(coverage);
    for (const std::string& name : missing) CHECK_MESSAGE(log.missing.count(name) == 1, name);
    std::set<std::string> open = missing;
    open.insert(coverage.undecided.begin(), coverage.undecided.end());
    for (const std::string& name : log.missing) CHECK_MESSAGE(open.count(name) == 1, name);
    CHECK(coverage.found_lookups <= log.found);
    CHECK(coverage.found_lookups + coverage.undecided.size() >= log.found);
  }
  const HloCoverage unrolled =
      Coverage("fsdp_unrolled/hlo/recompiled/module_2648." + kOptimized + "hlo.pb.zst",
               Profile("fsdp_unrolled/jaxlib_profile.pb"));
  CHECK(unrolled.undecided == std::vector<std::string>{"all-gather-start.36", "all-to-all-start.20",
                                                       "all-to-all-start.33",
                                                       "all-to-all-start.38"});
  CHECK(unrolled.missing.size() == 41);
}

TEST_CASE("reasons") {
  const HloCoverage unrolled =
      Coverage("fsdp_unrolled/hlo/profiled/module_2667." + kOptimized + "hlo.pb.zst",
               Profile("fsdp_unrolled/jaxlib_profile.pb"));
  CHECK(Reasons(unrolled) == std::map<std::string, int>{{"renamed after scheduling", 39},
                                                        {"asynchronous pair left to XLA", 2}});
  CHECK(unrolled.left_to_xla == std::vector<std::string>{"fusion-done", "fusion-start"});
  const auto renamed = std::find_if(unrolled.missing.begin(), unrolled.missing.end(),
                                    [](const auto& m) { return m.name == "all-to-all-start.1"; });
  REQUIRE(renamed != unrolled.missing.end());
  CHECK(renamed->detail == "all-to-all.1.2");
  CHECK(renamed->time_us > 0);

  const HloCoverage drift =
      Coverage("autotune_drift/hlo/recompiled/module_2667." + kOptimized + "hlo.pb.zst",
               Profile("autotune_drift/jaxlib_profile.pb"));
  CHECK(Reasons(drift) == std::map<std::string, int>{{"autotuner chose another kernel", 12},
                                                     {"asynchronous pair left to XLA", 2}});

  const HloCoverage foreign = Coverage("logs/hlo/module_2661." + kOptimized + "hlo.pb.zst",
                                       Profile("logs/foreign_profile.pb"));
  CHECK(foreign.found_instructions == 0);
  CHECK(foreign.share(false) == 0);
  CHECK(Reasons(foreign) == std::map<std::string, int>{{"foreign fingerprint", 138},
                                                       {"asynchronous pair left to XLA", 1}});

  const HloCoverage other =
      Coverage("logs/hlo/module_2661." + kOptimized + "hlo.pb.zst",
               CostProfile{{{"fusion_of_another_model.1", 1}, {"and_its_gemm.7", 2}}});
  CHECK(Reasons(other) ==
        std::map<std::string, int>{{"other module", static_cast<int>(other.missing.size())}});
}

TEST_CASE("a branch that was not taken") {
  const HloModule module = Module(R"(HloModule jit_f, is_scheduled=true

%body (p: (s32[])) -> (s32[]) {
  %p = (s32[]) parameter(0)
  %inner = (s32[]) fusion(%p), kind=kLoop, calls=%fused
  ROOT %out = (s32[]) tuple(%inner)
}

%fused (q: (s32[])) -> (s32[]) {
  ROOT %q = (s32[]) parameter(0)
}

%cond (r: (s32[])) -> pred[] {
  %r = (s32[]) parameter(0)
  ROOT %lt = pred[] compare(%r, %r), direction=LT
}

%taken (t: (s32[])) -> (s32[]) {
  ROOT %t = (s32[]) parameter(0)
}

%other (u: (s32[])) -> (s32[]) {
  %u = (s32[]) parameter(0)
  ROOT %loop = (s32[]) while(%u), condition=%cond, body=%body
}

ENTRY %main (a: (s32[]), b: pred[]) -> (s32[]) {
  %a = (s32[]) parameter(0)
  %b = pred[] parameter(1)
  %work = (s32[]) negate(%a)
  ROOT %choice = (s32[]) conditional(%b, %work, %work), true_computation=%taken, false_computation=%other
}
)");
  const HloCoverage coverage = CoverageOf(module, {{{"work", 1}}});
  CHECK(coverage.found_instructions == 1);
  CHECK(Reasons(coverage) ==
        std::map<std::string, int>{{"untaken branch", 2}, {"no measurement", 1}});
  // With a cost inside, the branch ran.
  const HloCoverage ran = CoverageOf(module, {{{"work", 1}, {"inner", 1}}});
  CHECK(Reasons(ran)["untaken branch"] == 0);
}

TEST_CASE("XLA's filter") {
  const CostProfile profile{
      {{"a", 1}, {"f::a", 2}, {"g::a", 3}, {"f::b::c", 4}, {"a", 5}, {"g::only", 6}}};
  const AppliedProfile own(profile, "f");
  REQUIRE(own.Find("a") != nullptr);
  CHECK(*own.Find("a") == 5);  // the last entry wins
  CHECK(own.Find("b::c") == nullptr);
  CHECK(own.Find("only") == nullptr);
  CHECK(own.ForeignFingerprint("only") == "g");
  CHECK(own.has_own_fingerprint());
  CHECK_FALSE(AppliedProfile(profile, "").has_own_fingerprint());

  SUBCASE("rematerialized names are stripped and averaged") {
    const CostProfile clones{{{"a.remat", 1},
                              {"a.remat2", 3},
                              {"a", 5},
                              {"b", 2},
                              {"b", 4},
                              {"c.remat.x", 7},
                              {"g::d.remat", 9}}};
    const AppliedProfile remat(clones, "f");
    CHECK(*remat.Find("a") == 3);
    CHECK(*remat.Find("b") == 3);  // repeated entries too
    CHECK(*remat.Find("c.remat.x") == 7);
    CHECK(remat.Find("a.remat") == nullptr);
    CHECK(remat.Find("d") == nullptr);
  }
  SUBCASE("a rematerialized name of another module changes nothing") {
    const CostProfile mixed{{{"a", 1}, {"a", 3}, {"g::d.remat", 9}}};
    CHECK(*AppliedProfile(mixed, "f").Find("a") == 3);
  }
}

TEST_CASE("targets of a gate") {
  std::vector<HloCoverage> modules(3);
  modules[0].module = "gemm_fusion_dot";
  modules[0].found_instructions = 900;
  modules[1].module = "jit_init";
  modules[1].found_instructions = 5;
  modules[2].module = "jit_train_step";
  modules[2].undecided = {"a", "b", "c", "d", "e", "f"};
  using Indices = std::vector<size_t>;
  CHECK(*TargetModules(modules, "") == Indices{2});
  CHECK(*TargetModules(modules, "init|gemm") == Indices{0, 1});
  CHECK_FALSE(TargetModules(modules, "eval").ok());
  CHECK(TargetModules(modules, "(").error().code == ErrorCode::kUsage);
  modules[1].has_own_fingerprint = true;
  CHECK(*TargetModules(modules, "") == Indices{1});
}

TEST_CASE("the gate wants something found") {
  CoverageReport report;
  report.modules.resize(1);  // asks for nothing: a share of 1
  report.targets = {0};
  CHECK(IsCovered(report));
  report.min_share = 0.5;
  CHECK_FALSE(IsCovered(report));
  report.modules[0].found_instructions = 1;
  CHECK(IsCovered(report));
  report.modules[0].missing.resize(2);
  CHECK_FALSE(IsCovered(report));
}

TEST_CASE("coverage as JSON") {
  CoverageReport report;
  report.modules.push_back(
      Coverage("fsdp_unrolled/hlo/profiled/module_2667." + kOptimized + "hlo.pb.zst",
               Profile("fsdp_unrolled/jaxlib_profile.pb")));
  report.targets = {0};
  const auto json = nlohmann::json::parse(FormatCoverageJson(report));
  CHECK(json["schema"] == "pgle.inspect.coverage/1");
  const auto& module = json["modules"][0];
  CHECK(module["module"] == "jit_train_step");
  CHECK(module["fingerprint"] == "605d21f72f8fa854186da0f7bc4522b2");
  CHECK(module["target"] == true);
  CHECK(module["found_instructions"] == 455);
  CHECK(module["found_lookups"] == 456);
  REQUIRE(module["missing"].size() == 41);
  CHECK(module["missing"][0]["name"] == "all-gather-start.30");
  CHECK(module["missing"][0]["reason"] == "renamed after scheduling");
  CHECK(module["missing"][0]["detail"] == "all-gather.34.2");
  CHECK(module["undecided"].empty());
  CHECK(module["left_to_xla"] == nlohmann::json{"fusion-done", "fusion-start"});
}

TEST_CASE("device times of a trace weigh the names") {
  Diagnostics diagnostics;
  const auto times = ReadTraceTimes({kRuns + "fsdp_scan/trace/vm.xplane.pb.zst"}, &diagnostics);
  REQUIRE(times.ok());
  const auto coverage =
      CoverageOf(kRuns + "fsdp_scan/hlo/profiled/module_2667." + kOptimized + "hlo.pb.zst",
                 Profile("fsdp_scan/jaxlib_profile.pb"), *times, "/tmp");
  REQUIRE(coverage.ok());
  const HloCoverage& module = coverage->front();
  CHECK(module.times_from_trace);
  CHECK(module.missing_us > 0);
  CHECK(module.share_by_time(false) > 0.5);
  CHECK(module.share_by_time(false) < 1);
  CHECK(module.share_by_time(true) < module.share_by_time(false));
}

TEST_CASE("a module of 100,000 instructions") {
  std::string text =
      "HloModule big, is_scheduled=true\n\nENTRY %main () -> f32[] {\n"
      "  %i0 = f32[] constant(0)\n";
  CostProfile profile;
  for (int i = 1; i < 100000; ++i) {
    text += fmt::format(
        "  {0}%i{1} = f32[8]{{0}} add(%i{2}, %i{2}), metadata={{op_name=\"f/add\" "
        "scheduling_name=\"i{1}\"}}, backend_config={{\"q\":\"0\"}}\n",
        i == 99999 ? "ROOT " : "", i, i / 2);
    if (i % 10 != 0) profile.costs.push_back({fmt::format("i{}", i), 1.5});
  }
  const HloModule module = Module(text + "}\n");
  const auto start = std::chrono::steady_clock::now();
  const HloCoverage coverage = CoverageOf(module, profile);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  CHECK(coverage.found_instructions == 90000);
  CHECK(coverage.missing.size() == 9999);
  CHECK(seconds.count() < 2);  // 0.1 s optimized
}

TEST_CASE("stems") {
  CHECK(NameStem("all-to-all.18.2") == "all-to-all.18");
  CHECK(NameStem("all-to-all.26") == "all-to-all");
  CHECK(NameStem("all-to-all") == "all-to-all");
  CHECK(NameStem("sm_9.0a") == "sm_9.0a");
  CHECK(NameStem("x.") == "x.");
}

TEST_CASE("what is neither found nor missing does not make a coverage") {
  HloCoverage coverage;
  CHECK(coverage.share(false) == 1);
  coverage.undecided = {"all-gather-start"};
  CHECK(coverage.share(false) == 0);
  CHECK(coverage.share(true) == 0);
  coverage.found_instructions = 3;
  CHECK(coverage.share(false) == 1);
  CHECK(coverage.share(true) == 0.75);
}

}  // namespace
}  // namespace pgle
