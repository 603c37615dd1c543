#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "base/test_support.h"
#include "merge/merge.h"

namespace pgle {
namespace {

std::map<std::string, double> AsMap(const CostProfile& profile) {
  std::map<std::string, double> map;
  for (const InstructionCost& cost : profile.costs) map.emplace(cost.name, cost.cost_us);
  CHECK(map.size() == profile.costs.size());
  return map;
}

MergeOptions OptionsFor(std::vector<std::string> inputs) {
  MergeOptions options;
  options.inputs = std::move(inputs);
  return options;
}

std::string Write(const TempDir& dir, const std::string& name, const CostProfile& profile,
                  ProfileFormat format = ProfileFormat::kBinary) {
  return dir.File(name, SerializeProfile(profile, format));
}

bool Says(const Merged& merged, const std::string& text) {
  const auto& items = merged.diagnostics.items();
  return std::any_of(items.begin(), items.end(), [&](const Diagnostic& item) {
    return (item.where + ": " + item.what).find(text) != std::string::npos;
  });
}

std::string Bytes(const Merged& merged) {
  return SerializeProfile(merged.keyed.profile, ProfileFormat::kBinary);
}

// Profiles of one program on many hosts, with names missing here and there.
std::vector<std::string> RandomProfiles(const TempDir& dir, size_t count) {
  std::mt19937 random(7);
  std::vector<std::string> files;
  for (size_t i = 0; i < count; ++i) {
    CostProfile profile;
    for (int name = 0; name < 200; ++name) {
      if (random() % 10 == 0) continue;
      const std::string bare = "fusion." + std::to_string(name);
      profile.costs.push_back({bare, static_cast<double>(random() % 1000)});
      profile.costs.push_back({"f::" + bare, profile.costs.back().cost_us});
    }
    std::shuffle(profile.costs.begin(), profile.costs.end(), random);
    const bool text = i % 5 == 4;
    files.push_back(Write(dir, "host" + std::to_string(i) + (text ? ".pbtxt" : ".pb"), profile,
                          text ? ProfileFormat::kText : ProfileFormat::kBinary));
  }
  return files;
}

TEST_CASE("jaxlib's own results, entry for entry") {
  for (const int percentile : {0, 50, 85, 90, 100}) {
    MergeOptions options = OptionsFor(
        {TestRun("aggregate/in0.pb"), TestRun("aggregate/in1.pb"), TestRun("aggregate/in2.pb")});
    options.percentile = percentile;
    const auto merged = Merge(options);
    REQUIRE(merged.ok());
    const auto reference =
        ReadProfile(TestRun("aggregate/jaxlib_p" + std::to_string(percentile) + ".pb"));
    REQUIRE(reference.ok());
    CHECK(AsMap(merged->keyed.profile) == AsMap(*reference));
    CHECK(Says(*merged, "drift: not checked"));
    if (percentile != 90) continue;
    options.percentile.reset();
    CHECK(Bytes(*Merge(options)) == Bytes(*merged));
  }
}

TEST_CASE("neither the order of inputs nor the number of threads changes a byte") {
  const TempDir dir;
  std::vector<std::string> files = RandomProfiles(dir, 40);
  const auto merged = Merge(OptionsFor(files));
  REQUIRE(merged.ok());
  std::mt19937 random(1);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(files.begin(), files.end(), random);
    MergeOptions options = OptionsFor(files);
    options.jobs = round % 2 == 0 ? 8 : 1;
    const auto again = Merge(options);
    REQUIRE(again.ok());
    CHECK(Bytes(*again) == Bytes(*merged));
    CHECK(again->partial_names == merged->partial_names);
    CHECK(again->spreads.size() == merged->spreads.size());
  }
}

TEST_CASE("reports do not depend on the number of threads") {
  const TempDir dir;
  MergeOptions options = OptionsFor(RandomProfiles(dir, 40));
  const auto one = Merge(options);
  options.jobs = 8;
  const auto eight = Merge(options);
  REQUIRE(one.ok());
  REQUIRE(eight.ok());
  REQUIRE(one->diagnostics.items().size() == eight->diagnostics.items().size());
  for (size_t i = 0; i < one->diagnostics.items().size(); ++i) {
    CHECK(one->diagnostics.items()[i].what == eight->diagnostics.items()[i].what);
  }
}

TEST_CASE("a profile merged with itself is itself, and that is reported") {
  const TempDir dir;
  const CostProfile profile = {{{"a", 1}, {"b", 2}, {"f::a", 1}, {"f::b", 2}}};
  const std::string a = Write(dir, "a.pb", profile), copy = Write(dir, "b.pb", profile);
  for (const auto& inputs : {std::vector{a, a}, std::vector{a, copy}}) {
    const auto merged = Merge(OptionsFor(inputs));
    REQUIRE(merged.ok());
    CHECK(merged->keyed.profile.costs == profile.costs);
    CHECK(merged->processes == 1);
    CHECK(Says(*merged, "equal byte for byte"));
  }
}

TEST_CASE("collectives may have a percentile of their own") {
  const TempDir dir;
  MergeOptions options = OptionsFor({Write(dir, "a.pb", {{{"all-reduce.1", 1}, {"fusion", 1}}}),
                                     Write(dir, "b.pb", {{{"all-reduce.1", 2}, {"fusion", 2}}})});
  options.percentile = 100;
  options.collective_percentile = 0;
  const auto merged = Merge(options);
  REQUIRE(merged.ok());
  CHECK(AsMap(merged->keyed.profile) ==
        std::map<std::string, double>{{"all-reduce.1", 1}, {"fusion", 2}});
}

TEST_CASE("drift is refused, or said and merged") {
  const TempDir dir;
  MergeOptions options = OptionsFor({Write(dir, "a.pb", {{{"x", 1}, {"f::x", 1}, {"f::y", 1}}}),
                                     Write(dir, "b.pb", {{{"x", 2}, {"g::x", 2}}})});
  const auto refused = Merge(options);
  REQUIRE(refused.ok());
  REQUIRE(refused->refusal.has_value());
  CHECK(refused->refusal->what.find("a.pb") != std::string::npos);
  CHECK(refused->refusal->what.find("these instructions differ: y") != std::string::npos);
  CHECK(refused->keyed.profile.costs.empty());
  options.allow_drift = true;
  const auto merged = Merge(options);
  REQUIRE(merged.ok());
  CHECK_FALSE(merged->refusal.has_value());
  CHECK(Says(*merged, "different versions"));
  CHECK(Says(*merged, "1 bare name is taken over different modules: x (of f and g)"));
}

TEST_CASE("a missing process is refused; equal files are one process") {
  const TempDir dir;
  const std::string a = Write(dir, "a.pb", {{{"x", 1}}});
  MergeOptions options = OptionsFor({a, Write(dir, "b.pb", {{{"x", 2}}}), a});
  options.expect_processes = 3;
  CHECK(Merge(options)->refusal.has_value());
  options.expect_processes = 2;
  CHECK_FALSE(Merge(options)->refusal.has_value());
  options.expect_processes = 1;
  CHECK(Says(*Merge(options), "processes: 1 expected, 2 found"));
}

TEST_CASE("an unreadable input stops the merge, or is skipped and said") {
  const TempDir dir;
  const std::string good = Write(dir, "good.pb", {{{"x", 1}, {"y", 2}}});
  const std::string whole = SerializeProfile({{{"x", 1}, {"y", 2}}}, ProfileFormat::kBinary);
  for (const std::string& bad :
       {dir.File("empty.pb", ""), dir.File("cut.pb", whole.substr(0, whole.size() - 3)),
        dir.File("foreign.pb", "hello, world"), dir.File("bad.pbtxt", "costs { name: 3 }"),
        dir.File("cut.pb.zst", "\x28\xb5\x2f\xfd\x01"), (dir.path / "missing.pb").string()}) {
    CAPTURE(bad);
    MergeOptions options = OptionsFor({good, bad});
    const auto stopped = Merge(options);
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.error().code == ErrorCode::kFailed);
    CHECK(stopped.error().where.find(bad) != std::string::npos);
    options.skip_unreadable = true;
    const auto skipped = Merge(options);
    REQUIRE(skipped.ok());
    CHECK(skipped->keyed.profile.costs.size() == 2);
    REQUIRE(skipped->skipped.size() == 1);
    CHECK(Says(*skipped, "skipped"));
    options.inputs = {bad};
    CHECK_FALSE(Merge(options).ok());
  }
}

TEST_CASE("wide spreads, thin inputs and lone bare names are said") {
  const TempDir dir;
  CostProfile thick;
  for (int i = 0; i < 10; ++i) thick.costs.push_back({"n" + std::to_string(i), 20.0});
  CostProfile slow = thick;
  slow.costs[3].cost_us = 500;
  const auto merged = Merge(OptionsFor({Write(dir, "a.pb", thick), Write(dir, "slow.pb", slow),
                                        Write(dir, "thin.pb", {{{"n1", 21}, {"f::n2", 20}}})}));
  REQUIRE(merged.ok());
  REQUIRE(merged->spreads.size() == 1);
  CHECK(merged->spreads[0].name == "n3");
  CHECK(merged->spreads[0].max_process.find("slow.pb") != std::string::npos);
  CHECK(Says(*merged, "thin.pb: holds 2 entries where most inputs hold 10"));
  CHECK(Says(*merged, "without a qualified twin"));
  CHECK(merged->partial_names == 10);  // of 11, all but n1
}

}  // namespace
}  // namespace pgle
