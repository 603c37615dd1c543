#include "inspect/hosts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pgle {
namespace {

namespace fs = std::filesystem;

const std::string kRuns = PGLE_TESTDATA "/runs/";

// Dump folders of ranks, gone when the test is.
class Job {
 public:
  Job() : path_(fs::temp_directory_path() / fmt::format("pgle_hosts_test.{}", getpid())) {
    fs::remove_all(path_);
  }
  ~Job() { fs::remove_all(path_); }
  void Write(const std::string& rank, const std::string& name, const std::string& bytes) const {
    fs::create_directories(path_ / rank);
    std::ofstream(path_ / rank / name) << bytes;
  }
  HostsComparison Compare(const std::string& pattern = "") const {
    auto comparison = CompareHosts({path_.string()}, pattern, "/tmp");
    if (!comparison.ok()) FAIL(comparison.error().what);
    return std::move(*comparison);
  }

 private:
  fs::path path_;
};

std::string Text(const std::string& name, const std::string& fingerprint, const std::string& first,
                 const std::string& second, const std::string& config = "{\"block_m\":\"128\"}") {
  return fmt::format(
      R"(HloModule {}, is_scheduled=true, frontend_attributes={{fingerprint_before_lhs="{}"}}

ENTRY %main (a: f32[8]) -> f32[8] {{
  %a = f32[8] parameter(0)
  %{} = f32[8] all-reduce(%a), replica_groups={{}}
  %{} = f32[8] all-reduce(%a), replica_groups={{}}
  ROOT %dot.1 = f32[8] custom-call(%a), custom_call_target="__cublas$gemm", backend_config={}
}}
)",
      name, fingerprint, first, second, config);
}

const char* const kFile = "module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt";

TEST_CASE("two processes of one job compiled one module") {
  const auto comparison = CompareHosts({kRuns + "two_process/hlo"}, "", "/tmp");
  REQUIRE(comparison.ok());
  CHECK(comparison->ranks.size() == 2);
  REQUIRE(comparison->modules.size() == 1);
  CHECK_FALSE(comparison->differs());
  CHECK(comparison->modules.front().variants.front().ranks == std::vector<size_t>{0, 1});
}

TEST_CASE("other kernels of the autotuner") {
  const auto comparison = CompareHosts(
      {kRuns + "autotune_drift/hlo/profiled", kRuns + "autotune_drift/hlo/recompiled"}, "", "/tmp");
  REQUIRE(comparison.ok());
  CHECK(comparison->differs());
  const HostVariant& variant = comparison->modules.front().variants.at(1);
  CHECK(variant.differences.size() > 12);
  CHECK(std::any_of(variant.differences.begin(), variant.differences.end(), [](const auto& d) {
    return d.name == "custom-call.77" && d.what == "only here";
  }));
  const auto json = nlohmann::json::parse(FormatHostsJson({*comparison}));
  CHECK(json["schema"] == "pgle.inspect.hosts/1");
  CHECK(json["differ"] == true);
  CHECK(json["modules"][0]["variants"][1]["differences"].size() == variant.differences.size());
  CHECK(json["modules"][0]["variants"][0]["first_other_collective"].is_null());
}

TEST_CASE("other tilings of one input, in published dumps") {
  const char* folder = getenv("PGLE_PUBLIC_DATA");
  if (folder == nullptr) return;
  const std::string stem = std::string(folder) + "/pax_fsdp4_proc";
  const auto comparison = CompareHosts({stem + "0.hlo.pb.zst", stem + "3.hlo.pb.zst"}, "", "/tmp");
  REQUIRE(comparison.ok());
  const HostVariant& variant = comparison->modules.front().variants.at(1);
  CHECK(variant.first_other_collective == HostVariant::kSameOrder);
  REQUIRE(variant.differences.size() == 12);
  CHECK(variant.differences.front().name == "gemm_fusion_dot.460.0");
  CHECK(variant.differences.front().what ==
        "block_m 128 -> 256, num_stages 4 -> 3, num_warps 4 -> 8");
}

TEST_CASE("the majority is the reference") {
  const Job job;
  job.Write("rank0", kFile, Text("jit_f", "aa", "ar.1", "ar.2", "{\"block_m\":\"64\"}"));
  job.Write("rank1", kFile, Text("jit_f", "bb", "ar.1", "ar.2"));
  job.Write("rank2", kFile, Text("jit_f", "bb", "ar.1", "ar.2"));
  const HostsComparison comparison = job.Compare();
  const ComparedModule& module = comparison.modules.front();
  CHECK(module.variants[0].ranks == std::vector<size_t>{1, 2});
  CHECK(module.variants[1].ranks == std::vector<size_t>{0});
  REQUIRE(module.variants[1].differences.size() == 1);
  CHECK(module.variants[1].differences[0].what == "block_m 128 -> 64");
}

TEST_CASE("another order of collectives under one fingerprint") {
  const Job job;
  job.Write("rank0", kFile, Text("jit_f", "aa", "ar.1", "ar.2"));
  job.Write("rank1", kFile, Text("jit_f", "aa", "ar.2", "ar.1"));
  const HostsComparison comparison = job.Compare();
  CHECK(comparison.differs());
  CHECK(comparison.modules.front().variants[0].collectives ==
        std::vector<std::string>{"ar.1", "ar.2"});
  CHECK(comparison.modules.front().variants[1].first_other_collective == 0);
  CHECK(comparison.modules.front().variants[1].differences.empty());
}

TEST_CASE("another profile in the compile request") {
  const Job job;
  for (const char* rank : {"rank0", "rank1"}) {
    job.Write(rank, kFile, Text("jit_f", "aa", "ar.1", "ar.2"));
    job.Write(rank, "module_0001.jit_f.sm_9.0_gpu_after_optimizations.fdo_profile",
              rank == std::string("rank0") ? "" : "x");
  }
  const HostsComparison comparison = job.Compare();
  CHECK(comparison.differs());
  CHECK(comparison.modules.front().variants[0].profile_sha256 == "empty");
}

TEST_CASE("a module that some ranks lack differs if it communicates") {
  const Job job;
  for (const char* rank : {"rank0", "rank1"}) {
    job.Write(rank, kFile, Text("jit_f", "aa", "ar.1", "ar.2"));
  }
  job.Write("rank0", "module_0002.jit_log.sm_9.0_gpu_after_optimizations.txt",
            "HloModule jit_log\n\nENTRY %main () -> f32[] {\n  ROOT %c = f32[] constant(0)\n}\n");
  job.Write("rank0", "module_0003.gemm_fusion.sm_9.0_gpu_after_optimizations.txt",
            Text("gemm_fusion", "cc", "ar.1", "ar.2"));
  HostsComparison comparison = job.Compare();
  CHECK_FALSE(comparison.differs());
  CHECK(comparison.other_modules == 1);  // the autotuner's
  CHECK(comparison.modules.at(1).absent == std::vector<size_t>{1});
  comparison = job.Compare("gemm");
  CHECK(comparison.differs());
}

TEST_CASE("compiles of one name are matched by fingerprint first") {
  const Job job;
  job.Write("rank0", kFile, Text("jit_f", "aa", "ar.1", "ar.2"));
  job.Write("rank0", "module_0002.jit_f.sm_9.0_gpu_after_optimizations.txt",
            Text("jit_f", "bb", "ar.1", "ar.2", "{}"));
  job.Write("rank1", kFile, Text("jit_f", "bb", "ar.1", "ar.2", "{}"));
  job.Write("rank1", "module_0002.jit_f.sm_9.0_gpu_after_optimizations.txt",
            Text("jit_f", "aa", "ar.1", "ar.2"));
  const HostsComparison comparison = job.Compare();
  CHECK(comparison.modules.size() == 2);
  CHECK_FALSE(comparison.differs());
}

TEST_CASE("one rank alone, and ranks without HLO") {
  const auto alone = CompareHosts({kRuns + "two_process/hlo/host0"}, "", "/tmp");
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().code == ErrorCode::kUsage);
  const auto foreign =
      CompareHosts({kRuns + "two_process/hlo/host0", kRuns + "aggregate"}, "", "/tmp");
  REQUIRE_FALSE(foreign.ok());
  CHECK(foreign.error().code == ErrorCode::kFailed);
  CHECK(foreign.error().where == kRuns + "aggregate");
}

}  // namespace
}  // namespace pgle
