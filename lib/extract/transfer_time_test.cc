#include "extract/transfer_time.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace pgle {
namespace {

DeviceSamples Device(uint32_t process, int64_t ordinal, std::vector<Execution> executions) {
  return {process, static_cast<uint32_t>(ordinal), ordinal, std::move(executions), true};
}

using Groups = std::vector<std::vector<int64_t>>;

ModuleSamples Module(CostClass cost_class, std::vector<DeviceSamples> devices,
                     int64_t group_size = 0, std::vector<std::pair<int64_t, int64_t>> pairs = {},
                     Groups groups = {}) {
  ModuleSamples module;
  for (const DeviceSamples& device : devices) module.processes.insert(device.process);
  NameSamples& samples = module.names.emplace_back();
  samples.name = "all-gather-start";
  samples.cost_class = cost_class;
  samples.group_size = group_size;
  samples.pairs = std::move(pairs);
  samples.groups = std::move(groups);
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
  ModuleSamples module = Module(CostClass::kCollective, {Device(0, 0, {{0, 100}, {200, 30}}),
                                                         Device(0, 1, {{60, 40}, {190, 40}})});
  const TransferReport report = CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{40, 30}, {40, 30}});
  CHECK(report.matched == 4);
  CHECK(report.unmatched == 0);
  CHECK(report.plain == 210);
  CHECK(report.removed == 70);
}

TEST_CASE("unequal counts: by overlap, and what is alone keeps its duration") {
  ModuleSamples module =
      Module(CostClass::kCollective,
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

// Four devices, which exchange in pairs (0,1) and (2,3) at different times: the second pair is
// faster.
std::vector<DeviceSamples> TwoPairs(uint32_t second_process = 0) {
  const int64_t first = second_process == 0 ? 2 : 0;
  return {Device(0, 0, {{0, 50}, {1000, 60}}), Device(0, 1, {{10, 40}, {1005, 55}}),
          Device(second_process, first, {{500, 25}, {1500, 35}}),
          Device(second_process, first + 1, {{505, 20}, {1502, 33}})};
}
const Expected kTwoPairsSettled = {{40, 55}, {40, 55}, {20, 33}, {20, 33}};

TEST_CASE("replica groups of one file are settled by themselves") {
  ModuleSamples module = Module(CostClass::kCollective, TwoPairs(), 2, {}, {{0, 1}, {3, 2}});
  const TransferReport report = CorrectWithinFiles(module);
  CHECK(Durations(module) == kTwoPairsSettled);
  CHECK(report.matched == 8);
  CHECK(report.unmatched == 0);
  CHECK(report.small_groups == 0);
  CHECK(CorrectAcrossFiles(module).matched == 0);

  // At one time, but in other pairs.
  module = Module(CostClass::kCollective,
                  {Device(0, 0, {{0, 50}}), Device(0, 1, {{0, 30}}), Device(0, 2, {{10, 40}}),
                   Device(0, 3, {{15, 15}})},
                  2, {}, {{0, 2}, {1, 3}});
  CHECK(CorrectWithinFiles(module).matched == 4);
  CHECK(Durations(module) == Expected{{40}, {15}, {40}, {15}});

  // A lost execution, and groups of different sizes: the last device is alone.
  module = Module(CostClass::kCollective,
                  {Device(0, 0, {{0, 50}, {100, 50}}), Device(0, 1, {{110, 40}}),
                   Device(0, 2, {{0, 5}, {100, 6}})},
                  2, {}, {{0, 1}, {2}});
  const TransferReport lost = CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{50, 40}, {40}, {5, 6}});
  CHECK(lost.matched == 2);
  CHECK(lost.unmatched == 3);
}

TEST_CASE("groups that are not the file's devices: settled where all run at one time") {
  const auto check = [](ModuleSamples module, const Expected& expected, uint64_t matched) {
    uint64_t executions = 0;
    for (const auto& durations : Durations(module)) executions += durations.size();
    TransferReport report = CorrectWithinFiles(module);
    report += CorrectAcrossFiles(module);
    CHECK(Durations(module) == expected);
    CHECK(report.matched == matched);
    CHECK(report.unmatched == executions - matched);
  };
  const Expected plain = Durations(Module(CostClass::kCollective, TwoPairs()));
  // Membership unknown; ids of devices that are not here; ids of replicas, not devices; an id
  // twice.
  for (const Groups& groups : {Groups{}, Groups{{0, 1}, {4, 5}}, Groups{{0, 1}},
                               Groups{{0, 1}, {1, 2}}, Groups{{0, 1}, {-1, 2}}}) {
    check(Module(CostClass::kCollective, TwoPairs(), 2, {}, groups), plain, 0);
  }
  // Ordinals that are not 0..n-1.
  std::vector<DeviceSamples> shifted = TwoPairs();
  for (DeviceSamples& device : shifted) ++device.ordinal;
  check(Module(CostClass::kCollective, shifted, 2, {}, {{0, 1}, {2, 3}}), plain, 0);
  // The first execution runs on all devices at one time, the second does not.
  const std::vector<DeviceSamples> mixed = {Device(0, 0, {{0, 50}, {200, 60}}),
                                            Device(0, 1, {{10, 40}, {210, 50}}),
                                            Device(0, 2, {{15, 45}, {500, 30}})};
  check(Module(CostClass::kCollective, mixed, 2), {{40, 60}, {40, 50}, {40, 30}}, 3);
  // Unequal counts.
  std::vector<DeviceSamples> unequal = mixed;
  unequal[0].executions.pop_back();
  check(Module(CostClass::kCollective, unequal, 2), {{50}, {40, 50}, {45, 30}}, 0);
}

ModuleSamples WithDeviceIds(ModuleSamples module, const std::string& assignment) {
  // HloProto {module {computation "e" (id 1, root 1) {instruction "x", id 1}, entry 1, assignment}}
  const auto field = [](int tag, const std::string& bytes) {
    const int key = tag << 3 | 2;
    std::string out;
    if (key >= 128) out += static_cast<char>((key & 127) | 128);
    out += static_cast<char>(key >= 128 ? key >> 7 : key);
    return out + static_cast<char>(bytes.size()) + bytes;
  };
  const std::string instruction = field(1, "x") + field(2, "add") + "\x98\x02\x01";
  const std::string computation = field(1, "e") + field(2, instruction) + "\x28\x01\x30\x01";
  std::string devices;
  for (char id : assignment) devices += field(3, field(1, {static_cast<char>(id - '0')}));
  auto hlo =
      ParseHloProto(field(1, field(3, computation) + "\x30\x01" + field(15, devices)), "a.pb");
  REQUIRE(hlo.ok());
  REQUIRE(hlo->device_ids().size() == assignment.size());
  module.hlo = std::make_shared<const HloModule>(std::move(*hlo));
  return module;
}

TEST_CASE("ids are devices only where the device assignment says so") {
  const ModuleSamples module = Module(CostClass::kCollective, TwoPairs(), 2, {}, {{0, 1}, {2, 3}});
  ModuleSamples in_order = WithDeviceIds(module, "0123");
  CHECK(CorrectWithinFiles(in_order).matched == 8);
  CHECK(Durations(in_order) == kTwoPairsSettled);
  for (const char* assignment : {"0213", "4567", "01234567"}) {
    CAPTURE(assignment);
    ModuleSamples other = WithDeviceIds(module, assignment);
    CHECK(CorrectWithinFiles(other).unmatched == 8);
    CHECK(Durations(other) == Durations(module));
  }
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

TEST_CASE("point-to-point: ids of other processes name no device here") {
  const std::vector<DeviceSamples> devices = {Device(0, 0, {{0, 50}}), Device(0, 1, {{10, 40}}),
                                              Device(1, 0, {{0, 90}}), Device(1, 1, {{0, 1}})};
  for (const auto& pairs : {std::vector<std::pair<int64_t, int64_t>>{{0, 1}},
                            std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {2, 3}},
                            std::vector<std::pair<int64_t, int64_t>>{}}) {
    ModuleSamples module = Module(CostClass::kPointToPoint, devices, 0, pairs);
    TransferReport report = CorrectWithinFiles(module);
    report += CorrectAcrossFiles(module);
    CHECK(Durations(module) == Expected{{50}, {40}, {90}, {1}});
    CHECK(report.matched == 0);
    CHECK(report.unmatched == 4);
    CHECK(report.idle == 0);
  }
  // One of several processes was traced.
  ModuleSamples module = Module(CostClass::kPointToPoint,
                                {Device(0, 0, {{0, 50}}), Device(0, 1, {{10, 1}})}, 0, {{0, 2}});
  const TransferReport report = CorrectWithinFiles(module);
  CHECK(Durations(module) == Expected{{50}, {1}});
  CHECK(report.unmatched == 2);
  CHECK(report.idle == 0);
}

TEST_CASE("computation is left alone") {
  ModuleSamples module =
      Module(CostClass::kCompute, {Device(0, 0, {{0, 100}}), Device(0, 1, {{60, 40}})});
  CHECK(CorrectWithinFiles(module).matched == 0);
  CHECK(Durations(module) == Expected{{100}, {40}});
}

TEST_CASE("across files by order, whatever their clocks say") {
  ModuleSamples module =
      Module(CostClass::kCollective,
             {Device(0, 0, {{0, 100}, {500, 30}}), Device(1, 0, {{7000, 40}, {8000, 35}})}, 2);
  TransferReport report = CorrectWithinFiles(module);
  CHECK(report.unmatched == 4);
  CHECK(report.small_groups == 0);
  report += CorrectAcrossFiles(module);
  CHECK(Durations(module) == Expected{{40, 30}, {40, 30}});
  CHECK(report.matched == 4);
  CHECK(report.unmatched == 0);
  CHECK(report.removed == 65);
}

TEST_CASE("across files only where one group spans all devices") {
  // Groups of two in two processes of two devices: each file settles its own.
  ModuleSamples local = Module(CostClass::kCollective, TwoPairs(1), 2, {}, {{0, 1}, {2, 3}});
  TransferReport report = CorrectWithinFiles(local);
  report += CorrectAcrossFiles(local);
  CHECK(Durations(local) == kTwoPairsSettled);
  CHECK(report.matched == 8);
  CHECK(report.unmatched == 0);

  for (const int64_t group_size : {0, 4, 8}) {
    ModuleSamples wide = Module(CostClass::kCollective, TwoPairs(1), group_size);
    CorrectWithinFiles(wide);
    CorrectAcrossFiles(wide);
    CHECK(Durations(wide) == Expected{{20, 33}, {20, 33}, {20, 33}, {20, 33}});
  }

  // Groups of two over four processes of one device: which two is unknown.
  ModuleSamples spread = Module(CostClass::kCollective,
                                {Device(0, 0, {{0, 50}}), Device(1, 0, {{0, 40}}),
                                 Device(2, 0, {{0, 30}}), Device(3, 0, {{0, 20}})},
                                2, {}, {{0, 1}, {2, 3}});
  report = CorrectWithinFiles(spread);
  report += CorrectAcrossFiles(spread);
  CHECK(Durations(spread) == Expected{{50}, {40}, {30}, {20}});
  CHECK(report.matched == 0);
  CHECK(report.unmatched == 4);
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
