// What the scheduler will find, on real runs: everything that XLA's own logs name as missing with
// jaxlib's profile has a cost.
#include "extract/coverage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/test_support.h"
#include "extract/extract.h"
#include "io/input.h"

namespace pgle {
namespace {

Extraction ExtractRun(const std::string& run, ExtractOptions options = {}) {
  options.inputs = {TestRun(run + "/trace")};
  auto extraction = Extract(options);
  REQUIRE(extraction.ok());
  return std::move(*extraction);
}

std::map<std::string, double> Profile(const Extraction& extraction) {
  std::map<std::string, double> costs;
  for (const InstructionCost& cost : extraction.keyed.profile.costs)
    costs[cost.name] = cost.cost_us;
  return costs;
}

// Names that XLA's log calls missing for a module.
std::set<std::string> MissingInLog(const std::string& path, const std::string& module) {
  std::set<std::string> names;
  std::istringstream lines{std::string(Input::Open(path)->bytes())};
  bool in_module = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Found profile for module") != std::string::npos) {
      in_module = line.find("module " + module + ",") != std::string::npos;
    }
    const size_t text = line.find("]   ");
    if (in_module && text != std::string::npos &&
        line.find("latency_estimator.cc") != std::string::npos) {
      names.insert(line.substr(text + 4));
    }
  }
  return names;
}

bool IsAsyncFusion(const std::string& name) {
  return name.rfind("fusion-start", 0) == 0 || name.rfind("fusion-done", 0) == 0;
}

TEST_CASE("every instruction that XLA misses in jaxlib's profile has a cost, and all others") {
  for (const char* run : {"fsdp_unrolled", "fsdp_scan", "fsdp_slow_link", "two_modules", "permute",
                          "tensor_parallel", "experts", "conv", "conditional", "remat"}) {
    CAPTURE(run);
    const auto missing =
        MissingInLog(TestRun(run) + "/log/recompile_jaxlib_profile.log.zst", "jit_train_step");
    CHECK(missing.size() >= 2);
    for (const AsyncFusions policy :
         {AsyncFusions::kSkip, AsyncFusions::kCost, AsyncFusions::kZero}) {
      ExtractOptions options;
      options.costs.async_fusions = policy;
      const Extraction extraction = ExtractRun(run, options);
      CHECK(extraction.coverage_by_count() == 1);
      CHECK(extraction.coverage_by_time() == 1);
      CHECK((extraction.coverage_by_count(true) == 1) ==
            (policy != AsyncFusions::kSkip ||
             std::none_of(missing.begin(), missing.end(), IsAsyncFusion)));
      const auto profile = Profile(extraction);
      const std::string prefix = extraction.modules[0].fingerprint + "::";
      std::set<std::string> left;
      for (const std::string& name : missing) {
        CAPTURE(name);
        if (profile.count(prefix + name) == 0)
          left.insert(name);
        else
          CHECK((profile.count(name) == 1 || extraction.modules.size() > 1));
      }
      for (const std::string& name : left) {
        CHECK(policy == AsyncFusions::kSkip);
        CHECK(IsAsyncFusion(name));
        const auto& reported = extraction.modules[0].coverage.left_to_xla;
        CHECK(std::find(reported.begin(), reported.end(), name) != reported.end());
      }
    }
  }
}

TEST_CASE("two processes: complete by the tool's own walk, whichever way they are read") {
  const Extraction extraction = ExtractRun("two_process");
  CHECK(extraction.coverage_by_count(true) == 1);
  CHECK(extraction.processes.size() == 2);
  CHECK(extraction.processes[0].name == "vm/host0.xplane.pb.zst");
  CHECK(extraction.modules[0].transfer.unmatched == 0);
  CHECK(extraction.modules[0].transfer.removed > 0);
  ExtractOptions parallel;
  parallel.jobs = 8;
  CHECK(Profile(ExtractRun("two_process", parallel)) == Profile(extraction));
}

TEST_CASE("command buffers hide instructions; none of those gets a zero") {
  const Extraction extraction = ExtractRun("command_buffers");
  const ModuleReport& module = extraction.modules.at(0);
  CHECK(module.command_buffers == 19);
  CHECK(module.coverage.missing.size() == 161);
  for (const MissingInstruction& missing : module.coverage.missing) {
    CHECK(missing.reason == MissingReason::kCommandBuffer);
  }
  CHECK(100.0 * static_cast<double>(module.command_buffer_busy) /
            static_cast<double>(extraction.busy) ==
        doctest::Approx(36.9).epsilon(0.002));
  CHECK(module.costs_by_source.count(CostSource::kNoActivity) == 0);
  for (const auto& [name, cost] : Profile(extraction)) {
    CHECK(cost > 0);
    CHECK(name.find("command_buffer") == std::string::npos);
  }
}

TEST_CASE("what no kernel runs for costs 0: conditions of counted loops, and nothing else") {
  std::set<std::string> zeros;
  for (const auto& [name, cost] : Profile(ExtractRun("fsdp_scan"))) {
    if (cost == 0) zeros.insert(name.substr(name.rfind(':') + 1));
  }
  CHECK(zeros == std::set<std::string>{"loop_compare_fusion", "loop_compare_fusion.1"});
  // A loop whose trip count depends on data runs its condition.
  for (const auto& [name, cost] : Profile(ExtractRun("conditional"))) CHECK(cost > 0);
}

TEST_CASE("an op of several kernels costs its span, not the mean of its kernels") {
  const auto complete = Profile(ExtractRun("fsdp_unrolled"));
  const auto jaxlib = ReadProfile(TestRun("fsdp_unrolled/jaxlib_profile.pb"));
  int doubled = 0;
  for (const InstructionCost& cost : jaxlib->costs) {
    const auto it = complete.find(cost.name);
    if (it != complete.end() && it->second > 1.8 * cost.cost_us) ++doubled;
  }
  CHECK(doubled >= 24);  // split-K GEMMs
}

TEST_CASE("waiting is not transfer: the all-gather that GPU 0 waits in takes 73 us") {
  const auto profile = Profile(ExtractRun("autotune_drift"));
  const auto jaxlib = ReadProfile(TestRun("autotune_drift/jaxlib_profile.pb"));
  double jaxlib_cost = 0;
  for (const InstructionCost& cost : jaxlib->costs) {
    if (cost.name == "all-gather.1.1") jaxlib_cost = cost.cost_us;
  }
  CHECK(jaxlib_cost > 150);
  ExtractOptions runtime;
  runtime.costs.names = NameMode::kRuntime;
  CHECK(Profile(ExtractRun("autotune_drift", runtime)).at("all-gather.1.1") ==
        doctest::Approx(73).epsilon(0.03));
}

TEST_CASE("names that clash between modules keep their own costs") {
  const Extraction extraction = ExtractRun("two_modules");
  CHECK(extraction.keyed.mode == KeyMode::kQualified);
  REQUIRE(extraction.modules.size() == 2);
  const auto profile = Profile(extraction);
  int clashes = 0, different = 0;
  for (const NamedCost& cost : extraction.costs[0].costs) {
    const auto other = profile.find(extraction.modules[1].fingerprint + "::" + cost.name);
    if (other == profile.end()) continue;
    ++clashes;
    different += other->second > 2 * cost.cost_us || cost.cost_us > 2 * other->second ? 1 : 0;
  }
  CHECK(clashes >= 18);
  CHECK(different >= 2);
}

TEST_CASE("a rematerialized clone counts under the name that the scheduler saw") {
  const Extraction extraction = ExtractRun("remat");
  for (const auto& [name, cost] : Profile(extraction)) {
    CHECK(name.find(".remat") == std::string::npos);
  }
  // input_multiply_reduce_fusion runs as its clone .remat2 alone.
  CHECK(Profile(extraction).count("input_multiply_reduce_fusion") == 1);
}

TEST_CASE("a conditional costs what its branches take") {
  const auto complete = Profile(ExtractRun("conditional"));
  const auto jaxlib = ReadProfile(TestRun("conditional/jaxlib_profile.pb"));
  int conditionals = 0;
  for (const InstructionCost& cost : jaxlib->costs) {
    if (cost.name.rfind("conditional", 0) != 0) continue;
    ++conditionals;
    CHECK(complete.at(cost.name) > 2 * cost.cost_us);  // jaxlib sees the predicate's copy alone
  }
  CHECK(conditionals == 4);
}

TEST_CASE("module runs are skipped on each device") {
  ExtractOptions options;
  options.skip_first = 2;
  const Extraction skipped = ExtractRun("fsdp_scan", options);
  CHECK(skipped.modules[0].runs == 2);
  CHECK(skipped.modules[0].executions * 3 == ExtractRun("fsdp_scan").modules[0].executions);
  options.skip_first = 3;
  options.inputs = {TestRun("fsdp_scan/trace")};
  CHECK_FALSE(Extract(options).ok());
}

TEST_CASE("HLO from a dump, proto or text, gives the same costs as HLO from the trace") {
  const TempDir dir;
  const auto trace = Input::Open(TestRun("fsdp_scan/trace/vm.xplane.pb.zst"));
  // Without its "/host:metadata" plane: another name makes it a plane that nobody asks for.
  std::string bytes(trace->bytes());
  for (size_t at = 0; (at = bytes.find("/host:metadata", at)) != std::string::npos;) {
    bytes.replace(at, 14, "/host:nothing!");
  }
  ExtractOptions options;
  options.inputs = {dir.File("vm.xplane.pb", bytes)};
  const auto blind = Extract(options);
  REQUIRE(blind.ok());
  CHECK_FALSE(blind->modules[0].coverage.known);
  CHECK(blind->keyed.mode == KeyMode::kBare);
  const auto expected = Profile(ExtractRun("fsdp_scan"));
  const std::string stem = TestRun(
      "fsdp_scan/hlo/profiled/module_2667.jit_train_step"
      ".sm_9.0a_gpu_after_optimizations");
  for (const std::string& hlo :
       {TestRun("fsdp_scan/hlo/profiled"), stem + ".hlo.pb.zst", stem + ".txt.zst"}) {
    CAPTURE(hlo);
    options.hlo = hlo;
    const auto with_dump = Extract(options);
    REQUIRE(with_dump.ok());
    CHECK(Profile(*with_dump) == expected);
  }
  // Older XLA sets no scheduling names: everything under its own name, and complete by that.
  const std::string text(Input::Open(stem + ".txt.zst")->bytes());
  std::string old_text;
  for (size_t at = 0; at < text.size();) {
    const size_t name = text.find("scheduling_name=\"", at);
    old_text += text.substr(at, name - at);
    at = name == std::string::npos ? text.size() : text.find('"', name + 17) + 1;
  }
  options.hlo =
      dir.File("module_2667.jit_train_step.sm_9.0a_gpu_after_optimizations.txt", old_text);
  const auto old_xla = Extract(options);
  REQUIRE(old_xla.ok());
  CHECK_FALSE(old_xla->modules[0].has_scheduling_names);
  CHECK(old_xla->coverage_by_count() == 1);
  CHECK(Profile(*old_xla).count("all-gather.19") == 1);
  CHECK(Profile(*old_xla).count("all-gather-start") == 1);  // still asynchronous: the start's name
  options.hlo = TestRun("logs/hlo");  // has a jit_train_step of another program: its ops differ
  const auto foreign = Extract(options);
  REQUIRE(foreign.ok());
  CHECK_FALSE(foreign->modules[0].unknown_ops.empty());
}

}  // namespace
}  // namespace pgle
