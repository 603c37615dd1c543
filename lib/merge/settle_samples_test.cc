#include "merge/settle_samples.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

constexpr Picoseconds kUs = kPicosecondsPerMicrosecond;

SampleRecord Record(uint32_t process, std::vector<Picoseconds> durations,
                    SampleClass sample_class = SampleClass::kCompute, std::string op = "") {
  SampleRecord record;
  record.name = "x";
  record.op = std::move(op);
  record.process = process;
  record.sample_class = sample_class;
  for (Picoseconds& duration : durations) duration *= kUs;
  record.durations = std::move(durations);
  return record;
}

std::vector<Picoseconds> InUs(const SampleRecord& record) {
  std::vector<Picoseconds> durations = record.durations;
  for (Picoseconds& duration : durations) duration /= kUs;
  return durations;
}

using Us = std::vector<Picoseconds>;

TEST_CASE("the k-th execution takes as long as on the fastest device of all processes") {
  for (const uint32_t group_size : {0, 3, 8}) {
    const SampleClass kind = SampleClass::kCollective;
    std::vector<SampleRecord> records = {Record(0, {9, 2}, kind), Record(1, {3, 8}, kind),
                                         Record(2, {5, 5}, kind)};
    for (SampleRecord& record : records) record.group_size = group_size;
    SampleTotals totals;
    CorrectAcrossProcesses(records, &totals);
    for (const SampleRecord& record : records) CHECK(InUs(record) == Us{3, 2});
    CHECK(totals.matched == 6);
    CHECK(totals.plain == 32 * kUs);
    CHECK(totals.removed == 17 * kUs);
  }
}

TEST_CASE("unequal counts, one process, several groups, pairs and computation keep durations") {
  const auto unchanged = [](std::vector<SampleRecord> records, uint64_t unmatched) {
    const std::vector<SampleRecord> before = records;
    SampleTotals totals;
    CorrectAcrossProcesses(records, &totals);
    CHECK(records == before);
    CHECK(totals.matched == 0);
    CHECK(totals.unmatched == unmatched);
  };
  const SampleClass kind = SampleClass::kCollective;
  unchanged({Record(0, {9, 2}, kind), Record(1, {3}, kind)}, 3);
  SampleRecord second_device = Record(0, {3, 8}, kind);
  second_device.device = 1;
  unchanged({Record(0, {9, 2}, kind), second_device}, 4);
  unchanged({Record(0, {9, 2}), Record(1, {3, 8})}, 0);
  const SampleClass pairs = SampleClass::kPointToPoint;
  unchanged({Record(0, {9, 2}, pairs), Record(1, {3, 8}, pairs)}, 4);
  std::vector<SampleRecord> groups = {Record(0, {9}, kind), Record(1, {3}, kind),
                                      Record(2, {5}, kind)};
  for (SampleRecord& record : groups) record.group_size = 2;
  unchanged(groups, 3);
  // Groups of two, each in one of two processes.
  groups = {Record(0, {9}, kind), Record(0, {9}, kind), Record(1, {3}, kind), Record(1, {3}, kind)};
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].group_size = 2;
    groups[i].device = i % 2;
  }
  unchanged(groups, 4);
}

TEST_CASE("ops are matched by themselves, and a device without executions is none") {
  const SampleClass kind = SampleClass::kCollective;
  std::vector<SampleRecord> records = {Record(0, {9}, kind, "op.1"), Record(1, {3}, kind, "op.1"),
                                       Record(2, {}, kind, "op.1"), Record(0, {4, 4}, kind, "op.2"),
                                       Record(1, {7, 1}, kind, "op.2")};
  SampleTotals totals;
  CorrectAcrossProcesses(records, &totals);
  CHECK(InUs(records[0]) == Us{3});
  CHECK(InUs(records[1]) == Us{3});
  CHECK(InUs(records[3]) == Us{4, 1});
  CHECK(InUs(records[4]) == Us{4, 1});
}

TEST_CASE("the statistic is over all executions of all processes") {
  std::vector<SampleRecord> records = {Record(0, {1, 2, 3}), Record(1, {10}), Record(4, {4, 20})};
  const auto settled = SettleName(records, {});
  REQUIRE(settled.has_value());
  CHECK(settled->cost_us == 3);  // nearest rank of 1 2 3 4 10 20
  CHECK(settled->processes == 3);
  CHECK(settled->min_us == 2);
  CHECK(settled->min_process == 0);
  CHECK(settled->max_us == 10);
  CHECK(settled->max_process == 1);
}

TEST_CASE("collectives may have a statistic of their own") {
  const SettleRules rules = {Statistic::Parse("p100").value(), Statistic::Parse("p0").value()};
  std::vector<SampleRecord> compute = {Record(0, {1, 2})};
  std::vector<SampleRecord> collective = {Record(0, {1, 2}, SampleClass::kCollective)};
  CHECK(SettleName(compute, rules)->cost_us == 2);
  CHECK(SettleName(collective, rules)->cost_us == 1);
}

TEST_CASE("what ran without activity costs 0 where nothing was measured") {
  std::vector<SampleRecord> idle = {Record(0, {}, SampleClass::kNoActivity),
                                    Record(1, {}, SampleClass::kNoActivity)};
  REQUIRE(SettleName(idle, {}).has_value());
  CHECK(SettleName(idle, {})->cost_us == 0);
  CHECK(SettleName(idle, {})->source == CostSource::kNoActivity);
  std::vector<SampleRecord> seen = {Record(0, {}, SampleClass::kNoActivity), Record(1, {5})};
  CHECK(SettleName(seen, {})->cost_us == 5);
  std::vector<SampleRecord> called = {Record(0, {1, 1, 1}),
                                      Record(0, {50}, SampleClass::kCalled, "y")};
  CHECK(SettleName(called, {})->cost_us == 50);
  CHECK(SettleName(called, {})->source == CostSource::kCalled);
  std::vector<SampleRecord> empty = {Record(0, {})};
  CHECK_FALSE(SettleName(empty, {}).has_value());
}

}  // namespace
}  // namespace pgle
