#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "base/sha256.h"
#include "base/test_support.h"
#include "io/input.h"
#include "merge/merge.h"
#include "merge/sample_union.h"
#include "samples/sample_file.h"

namespace pgle {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

std::string FileBytes(const std::string& path) {
  return std::string(Input::Open(path)->bytes());
}

// The samples of one process of a job. `fingerprint` is that of jit_step; names lack here and
// there.
std::string WriteProcess(const TempDir& dir, uint32_t number, const std::string& fingerprint = "f",
                         const std::string& statistic = "median") {
  std::mt19937 random(number);
  SampleHeader header;
  header.statistic = statistic;
  header.processes = {{Sha256Of(std::to_string(number)),
                       "host" + std::to_string(number) + "/x",
                       {"GPU:0", "GPU:1"}}};
  header.modules = {{"jit_step", fingerprint, {0}, 1000 * kUs}, {"jit_init", "i", {0}, kUs}};
  std::sort(header.modules.begin(), header.modules.end(), [](const auto& a, const auto& b) {
    return std::tie(a.fingerprint, a.name) < std::tie(b.fingerprint, b.name);
  });
  std::vector<SampleRecord> records;
  for (uint32_t module = 0; module < 2; ++module) {
    for (int name = 0; name < 30; ++name) {
      if (random() % 20 == 0) continue;
      for (uint32_t device = 0; device < 2; ++device) {
        SampleRecord record;
        record.module = module;
        record.device = device;
        record.name = (name < 10 ? "all-gather-start." : "fusion.") + std::to_string(name);
        record.op = name % 7 == 0 ? record.name + ".1" : "";
        record.sample_class = name < 10 ? SampleClass::kCollective : SampleClass::kCompute;
        for (int k = 0; k < 3; ++k) {
          record.durations.push_back(static_cast<Picoseconds>(10 + random() % 50) * kUs);
        }
        records.push_back(std::move(record));
      }
    }
  }
  std::sort(records.begin(), records.end(), ComesBefore);
  const std::string path = (dir.path / ("host" + std::to_string(number) + ".samples")).string();
  Result<SampleWriter> writer = SampleWriter::Create(path, header);
  REQUIRE(writer.ok());
  for (const SampleRecord& record : records) REQUIRE(writer->Add(record).ok());
  REQUIRE(writer->Finish().ok());
  return path;
}

std::vector<std::string> WriteJob(const TempDir& dir, uint32_t processes) {
  std::vector<std::string> files;
  for (uint32_t i = 0; i < processes; ++i) files.push_back(WriteProcess(dir, i));
  return files;
}

MergeOptions OptionsFor(std::vector<std::string> inputs) {
  MergeOptions options;
  options.inputs = std::move(inputs);
  return options;
}

std::string ProfileBytes(const Merged& merged) {
  REQUIRE_FALSE(merged.refusal.has_value());
  return SerializeProfile(merged.keyed.profile, ProfileFormat::kBinary);
}

// Merges into a sample file.
std::string Union(const TempDir& dir, const std::string& name, std::vector<std::string> inputs,
                  int jobs = 1) {
  MergeOptions options = OptionsFor(std::move(inputs));
  options.samples_out = (dir.path / (name + ".samples")).string();
  options.want_profile = false;
  options.jobs = jobs;
  const auto merged = Merge(options);
  REQUIRE(merged.ok());
  REQUIRE_FALSE(merged->refusal.has_value());
  return options.samples_out;
}

TEST_CASE("a tree of merges, any order and any number of threads give the same bytes") {
  const TempDir dir;
  std::vector<std::string> files = WriteJob(dir, 9);
  const std::string flat = Union(dir, "flat", files);
  const std::string profile = ProfileBytes(*Merge(OptionsFor(files)));
  CHECK(profile == ProfileBytes(*Merge(OptionsFor({flat}))));
  std::mt19937 random(3);
  for (int round = 0; round < 4; ++round) {
    std::shuffle(files.begin(), files.end(), random);
    const auto part = [&](size_t begin, size_t end) {
      return std::vector<std::string>(files.begin() + static_cast<ptrdiff_t>(begin),
                                      files.begin() + static_cast<ptrdiff_t>(end));
    };
    const std::string left = Union(dir, "left", part(0, 3)),
                      right = Union(dir, "right", part(3, 8));
    const std::string tree = Union(dir, "tree", {right, files[8], left});
    CHECK(FileBytes(tree) == FileBytes(flat));
    MergeOptions options = OptionsFor({left, right, files[8]});
    options.jobs = 8;
    CHECK(ProfileBytes(*Merge(options)) == profile);
  }
}

TEST_CASE("more files than are kept open at a time are the same") {
  const TempDir dir;
  const std::vector<std::string> files = WriteJob(dir, kMaxOpenReaders + 40);
  const std::string flat = Union(dir, "flat", files, 8);
  std::vector<std::string> halves;
  const auto middle = files.begin() + static_cast<ptrdiff_t>(files.size() / 2);
  halves.push_back(Union(dir, "a", {files.begin(), middle}));
  halves.push_back(Union(dir, "b", {middle, files.end()}));
  CHECK(FileBytes(Union(dir, "tree", halves)) == FileBytes(flat));
}

TEST_CASE("a process that comes twice is refused, at any depth") {
  const TempDir dir;
  const std::vector<std::string> files = WriteJob(dir, 3);
  const std::string two = Union(dir, "two", {files[0], files[1]});
  for (const auto& inputs :
       {std::vector{files[0], files[0]}, std::vector{two, files[2], files[1]}}) {
    const auto merged = Merge(OptionsFor(inputs));
    REQUIRE(merged.ok());
    REQUIRE(merged->refusal.has_value());
    CHECK(merged->refusal->code == ErrorCode::kRefused);
    CHECK(merged->refusal->where == inputs.back());
  }
}

TEST_CASE("drift is told by module, with the processes on each side") {
  const TempDir dir;
  MergeOptions options =
      OptionsFor({WriteProcess(dir, 0), WriteProcess(dir, 1, "g"), WriteProcess(dir, 2)});
  options.samples_out = (dir.path / "out.samples").string();
  const auto merged = Merge(options);
  REQUIRE(merged.ok());
  REQUIRE(merged->refusal.has_value());
  CHECK(merged->refusal->where == "jit_step");
  CHECK(merged->refusal->what.find("f in host0/x, host2/x; g in host1/x") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(options.samples_out));
  options.allow_drift = true;
  const auto allowed = Merge(options);
  REQUIRE(allowed.ok());
  CHECK_FALSE(allowed->refusal.has_value());
  CHECK(allowed->modules.size() == 3);
}

TEST_CASE("the header's statistic, unless a percentile is given") {
  const TempDir dir;
  MergeOptions options =
      OptionsFor({WriteProcess(dir, 0, "f", "min"), WriteProcess(dir, 1, "f", "min")});
  CHECK(Merge(options)->statistic == "min");
  options.percentile = 100;
  options.collective_percentile = 0;
  const auto merged = Merge(options);
  CHECK(merged->statistic == "p100");
  CHECK(merged->collective_statistic == "p0");
  MergeOptions mixed = OptionsFor({options.inputs[0], WriteProcess(dir, 2)});
  CHECK(Merge(mixed)->refusal.has_value());
  mixed.percentile = 50;
  CHECK_FALSE(Merge(mixed)->refusal.has_value());
}

TEST_CASE("keys are bare and qualified where one module dominates") {
  const TempDir dir;
  MergeOptions options = OptionsFor(WriteJob(dir, 2));
  const auto merged = Merge(options);
  REQUIRE(merged.ok());
  CHECK(merged->keyed.mode == KeyMode::kBoth);
  const auto& costs = merged->keyed.profile.costs;
  const auto qualified = std::find_if(costs.begin(), costs.end(), [](const InstructionCost& cost) {
    return cost.name.find("::") != std::string::npos;
  });
  CHECK(std::all_of(qualified, costs.end(), [](const InstructionCost& cost) {
    return cost.name.find("::") != std::string::npos;
  }));
  REQUIRE(merged->modules.size() == 2);
  CHECK(merged->modules[0].fingerprint == "f");
  options.keys = KeyMode::kBare;
  CHECK(Merge(options)->keyed.mode == KeyMode::kBare);
}

TEST_CASE("a cut sample file stops the merge, wherever it was cut, or is skipped whole") {
  const TempDir dir;
  const std::vector<std::string> files = WriteJob(dir, 3);
  const std::string expected = ProfileBytes(*Merge(OptionsFor({files[0], files[2]})));
  std::string packed;
  {
    std::ifstream in(files[1], std::ios::binary);
    packed.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (const size_t size : {size_t{0}, size_t{3}, packed.size() / 2, packed.size() - 1}) {
    const std::string cut = dir.File("cut.samples", packed.substr(0, size));
    MergeOptions options = OptionsFor({files[0], cut, files[2]});
    options.samples_out = (dir.path / "out.samples").string();
    const auto stopped = Merge(options);
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.error().where.find("cut.samples") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(options.samples_out));
    options.skip_unreadable = true;
    options.samples_out.clear();
    const auto skipped = Merge(options);
    REQUIRE(skipped.ok());
    CHECK(skipped->skipped.size() == 1);
    CHECK(ProfileBytes(*skipped) == expected);
    options.inputs = {cut};
    CHECK_FALSE(Merge(options).ok());
  }
}

TEST_CASE("fewer processes than expected are refused") {
  const TempDir dir;
  MergeOptions options = OptionsFor({Union(dir, "two", WriteJob(dir, 2))});
  options.expect_processes = 2;
  CHECK_FALSE(Merge(options)->refusal.has_value());
  options.expect_processes = 3;
  CHECK(Merge(options)->refusal.has_value());
}

TEST_CASE("profiles and sample files are not mixed, and profiles give no samples") {
  const TempDir dir;
  const std::string samples = WriteProcess(dir, 0);
  CHECK_FALSE(Merge(OptionsFor({samples, TestRun("aggregate/in0.pb")})).ok());
  MergeOptions options = OptionsFor({TestRun("aggregate/in0.pb")});
  options.samples_out = "x.samples";
  REQUIRE_FALSE(Merge(options).ok());
  CHECK(Merge(options).error().code == ErrorCode::kUsage);
}

}  // namespace
}  // namespace pgle
