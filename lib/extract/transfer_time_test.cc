#include "extract/transfer_time.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

DeviceSamples Device(uint32_t process, int64_t ordinal, std::vector<Execution> executions) {
  return {process, static_cast<uint32_t>(ordinal), ordinal, std::move(executions), true};
}

ModuleSamples Module(CostClass cost_class, std::vector<DeviceSamples> devices,
                     int64_t group_size = 0,
                     std::vector<std::pair<int64_t, int64_t>> pairs = {}) {
  ModuleSamples module;
  NameSamples& samples = module.names.emplace_back();
  samples.name = "all-gather-start";
  samples.cost_class = cost_class;
  samples.group_size = group_size;
  samples.pairs = std::move(pairs);
  samples.ops.push_back({"all-gather", std::move(devices)});
  return module;
}

std::vector<std::vector<Picoseconds>> Durations(const ModuleSamples& module) {
  std::vector<std::vector<Picoseconds>> result;
  for (const DeviceSamples& device : module.names[0].ops[0].devices) {
    auto& list = result.emplace_back();
    for (const Execution& execution : device.executions) list.push_back(execution.duration);
  }
  return result;
}

using Expected = std::vector<std::vector<Picoseconds>>;

TEST_CASE("the transfer takes the shortest duration of those that run at one time") {
  ModuleSamples module = Module(CostClass::kCollective,
                                {Device(0, 0, {{0, 100}, {200, 30}}), Device(0, 1, {{60, 40}, {190, 40}})});
  const TransferReport report = CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{40, 30}, {40, 30}});
  CHECK(report.matched == 4);
  CHECK(report.unmatched == 0);
  CHECK(report.plain == 210);
  CHECK(report.removed == 70);
}

TEST_CASE("unequal counts: by overlap, and what is alone keeps its duration") {
  ModuleSamples module = Module(
      CostClass::kCollective,
      {Device(0, 0, {{0, 10}, {100, 50}, {200, 60}}), Device(0, 1, {{120, 30}, {210, 50}})});
  const TransferReport report = CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{10, 30, 50}, {30, 50}});
  CHECK(report.matched == 4);
  CHECK(report.unmatched == 1);
}

TEST_CASE("equal counts that do not overlap in order are matched by overlap") {
  // The first device lost its last execution, the second its first.
  ModuleSamples module = Module(CostClass::kCollective, {Device(0, 0, {{0, 10}, {100, 50}}),
                                                         Device(0, 1, {{120, 30}, {300, 40}})});
  CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{10, 30}, {30, 40}});
}

TEST_CASE("two groups in one file need not run at one time") {
  ModuleSamples module = Module(CostClass::kCollective,
                                {Device(0, 0, {{0, 50}}), Device(0, 1, {{10, 40}}),
                                 Device(0, 2, {{500, 45}}), Device(0, 3, {{505, 42}})}, 2);
  CHECK(CorrectWithinFiles(module).matched == 4);
  CHECK(Durations(module) == Expected{{40}, {40}, {40}, {40}});
}

TEST_CASE("point-to-point: the participant that started last, by component, idle devices out") {
  ModuleSamples module = Module(CostClass::kPointToPoint,
                                {Device(0, 0, {{0, 5}}), Device(0, 1, {{10, 40}}),
                                 Device(0, 2, {{0, 90}}), Device(0, 3, {{0, 1}})},
                                0, {{0, 1}, {1, 2}});
  const TransferReport report = CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{5}, {40}, {40}, {}});
  CHECK(report.idle == 1);
  CHECK(report.matched == 3);
}

TEST_CASE("computation is left alone") {
  ModuleSamples module =
      Module(CostClass::kCompute, {Device(0, 0, {{0, 100}}), Device(0, 1, {{60, 40}})});
  CHECK(CorrectWithinFiles(module).matched == 0);
  CHECK(Durations(module) == Expected{{100}, {40}});
}

TEST_CASE("across files by order, whatever their clocks say") {
  ModuleSamples module = Module(CostClass::kCollective, {Device(0, 0, {{0, 100}, {500, 30}}),
                                                         Device(1, 0, {{7000, 40}, {8000, 35}})}, 2);
  TransferReport report = CorrectWithinFiles(module);
  CHECK(report.unmatched == 4);
  CHECK(report.small_groups == 0);
  report += CorrectAcrossFiles(module);
  CHECK(Durations(module) == Expected{{40, 30}, {40, 30}});
  CHECK(report.matched == 4);
  CHECK(report.unmatched == 0);
  CHECK(report.removed == 65);
}

TEST_CASE("across files with unequal counts nothing is guessed") {
  ModuleSamples module = Module(CostClass::kCollective,
                                {Device(0, 0, {{0, 100}, {500, 30}}), Device(1, 0, {{7000, 40}})});
  TransferReport report = CorrectWithinFiles(module);
  report += CorrectAcrossFiles(module);
  CHECK(Durations(module) == Expected{{100, 30}, {40}});
  CHECK(report.unmatched == 3);
}

TEST_CASE("a group wider than the trace is reported") {
  ModuleSamples module = Module(CostClass::kCollective, {Device(0, 0, {{0, 100}})}, 8);
  CHECK(CorrectWithinFiles(module).small_groups == 1);
}

}  // namespace
}  // namespace pgle
