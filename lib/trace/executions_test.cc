#include "trace/executions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/test_support.h"
#include "trace/space_builder.h"

namespace pgle {
namespace {

using OpKey = std::pair<std::string, std::string>;  // plane, op
using ExecutionList = std::vector<std::pair<Picoseconds, Picoseconds>>;

std::vector<DeviceTrace> ReadAll(const std::string& path) {
  const Result<Input> input = Input::Open(path);
  REQUIRE(input.ok());
  const auto index = IndexXSpace(*input);
  REQUIRE(index.ok());
  std::vector<DeviceTrace> devices;
  for (size_t plane : DevicePlanes(*index)) {
    Result<DeviceTrace> device = ReadDeviceTrace(*input, index->planes[plane]);
    REQUIRE(device.ok());
    devices.push_back(std::move(*device));
  }
  return devices;
}

std::vector<DeviceTrace> ReadSpace(const proto::XSpace& space) {
  const TempDir dir;
  return ReadAll(dir.File("x.xplane.pb", space.SerializeAsString()));
}

std::map<OpKey, ExecutionList> ByOp(const std::vector<DeviceTrace>& devices) {
  std::map<OpKey, ExecutionList> result;
  for (const DeviceTrace& device : devices) {
    for (const OpExecutions& op : device.ops) {
      for (const Execution& e : op.executions) {
        result[{device.name, op.op.name}].push_back({e.start, e.duration});
      }
    }
  }
  return result;
}

size_t OpsWithScopes(const std::vector<DeviceTrace>& devices) {
  size_t count = 0;
  for (const DeviceTrace& device : devices) {
    for (const OpExecutions& op : device.ops) count += op.has_scopes ? 1 : 0;
  }
  return count;
}

// A loop copies its predicate once an iteration, with the loop's work between the copies: only
// scope ids can tell that they are one execution.
std::map<OpKey, ExecutionList> WithoutLoops(std::map<OpKey, ExecutionList> by_op) {
  std::erase_if(by_op, [](const auto& entry) { return entry.first.second.rfind("while", 0) == 0; });
  return by_op;
}

proto::XSpace OneDevice() {
  proto::XSpace space;
  space.add_planes()->set_name("/device:GPU:0");
  return space;
}

TEST_CASE("executions stay the same when scope ids are taken out of real traces") {
  for (const std::string trace :
       {"fsdp_unrolled/trace/vm", "fsdp_scan/trace/vm", "fsdp_slow_link/trace/vm",
        "autotune_drift/trace/vm", "command_buffers/trace/vm", "two_process/trace/host0",
        "two_process/trace/host1", "two_modules/trace/vm", "permute/trace/vm",
        "tensor_parallel/trace/vm", "experts/trace/vm", "conv/trace/vm", "conditional/trace/vm",
        "remat/trace/vm"}) {
    CAPTURE(trace);
    const std::string path = TestRun(trace) + ".xplane.pb.zst";
    const std::vector<DeviceTrace> with_scopes = ReadAll(path);
    proto::XSpace space;
    REQUIRE(space.ParseFromString(std::string(Input::Open(path)->bytes())));
    for (proto::XPlane& plane : *space.mutable_planes()) {
      for (proto::XLine& line : *plane.mutable_lines()) {
        for (proto::XEvent& event : *line.mutable_events()) {
          auto& stats = *event.mutable_stats();
          for (int i = stats.size() - 1; i >= 0; --i) {
            if (plane.stat_metadata().at(stats[i].metadata_id()).name() == "scope_range_id") {
              stats.DeleteSubrange(i, 1);
            }
          }
        }
      }
    }
    const std::vector<DeviceTrace> without = ReadSpace(space);
    CHECK(OpsWithScopes(with_scopes) > 20);
    CHECK(OpsWithScopes(without) == 0);
    const auto expected = WithoutLoops(ByOp(with_scopes));
    CHECK(expected.size() > 20);
    CHECK(expected == WithoutLoops(ByOp(without)));
  }
}

TEST_CASE("fragments of one scope are one execution, also over lines") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  proto::XLine* compute = plane.Line("Stream #1(Compute)");
  compute->set_timestamp_ns(5);
  plane.OpEvent(compute, "gemm", 100, 10, 1);
  plane.OpEvent(compute, "gemm", 120, 30, 1);
  plane.OpEvent(compute, "gemm", 300, 10, 2);
  proto::XLine* copies = plane.Line("Stream #2(MemcpyD2D)", 2);
  copies->set_timestamp_ns(5);
  plane.OpEvent(copies, "gemm", 400, 100, 2);
  plane.OpEvent(copies, "gemm", 140, 20, 1);
  const auto devices = ReadSpace(space);
  REQUIRE(devices.size() == 1);
  CHECK(ByOp(devices)[{"/device:GPU:0", "gemm"}] == ExecutionList{{5100, 60}, {5300, 200}});
  CHECK(devices[0].busy == 170);
}

TEST_CASE("equal scope ids of other ops and devices do not join") {
  proto::XSpace space = OneDevice();
  space.add_planes()->set_name("/device:GPU:1");
  for (int d = 0; d < 2; ++d) {
    PlaneBuilder plane(space.mutable_planes(d));
    proto::XLine* line = plane.Line("Stream #1(Compute)");
    plane.OpEvent(line, "a", 0, 10, 1);
    plane.OpEvent(line, "b", 10, 10, 1);
  }
  const auto by_op = ByOp(ReadSpace(space));
  CHECK(by_op.size() == 4);
  for (const auto& [key, executions] : by_op) CHECK(executions.size() == 1);
}

TEST_CASE("an op alone on its stream is not glued together without scope ids") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  proto::XLine* side = plane.Line("Stream #1(MemcpyD2D)");
  proto::XLine* main = plane.Line("Stream #2(Compute)", 2);
  for (int run = 0; run < 3; ++run) {
    plane.Stat(plane.OpEvent(side, "copy", run * 100, 10), "correlation_id")
        ->set_uint64_value(static_cast<uint64_t>(run * 10 + 1));
    plane.Stat(plane.OpEvent(main, "gemm", run * 100, 50), "correlation_id")
        ->set_uint64_value(static_cast<uint64_t>(run * 10 + 2));
  }
  CHECK(ByOp(ReadSpace(space))[{"/device:GPU:0", "copy"}] ==
        ExecutionList{{0, 10}, {100, 10}, {200, 10}});
}

TEST_CASE("names may be strings, numbers, or stand in the event's metadata") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  proto::XLine* line = plane.Line("Stream #1(Compute)");
  proto::XEvent* event = plane.Event(line, 0, 5);
  plane.Stat(event, "hlo_op")->set_str_value("fusion.1");
  plane.Stat(event, "hlo_module")->set_str_value("jit_step");
  event = plane.Event(line, 10, 5);
  plane.Stat(event, "hlo_op")->set_int64_value(42);
  plane.Stat(event, "hlo_module")->set_str_value("jit_step");
  event = plane.Event(line, 20, 5);
  event->set_metadata_id(9);
  proto::XEventMetadata& metadata = (*space.mutable_planes(0)->mutable_event_metadata())[9];
  metadata.set_id(9);
  for (const char* name : {"hlo_op", "hlo_module"}) {
    proto::XStat* stat = metadata.add_stats();
    stat->set_metadata_id(static_cast<int64_t>(plane.Id(name)));
    stat->set_str_value(std::string("from_metadata_") + name);
  }
  const auto by_op = ByOp(ReadSpace(space));
  CHECK(by_op.count({"/device:GPU:0", "fusion.1"}) == 1);
  CHECK(by_op.count({"/device:GPU:0", "42"}) == 1);
  CHECK(by_op.count({"/device:GPU:0", "from_metadata_hlo_op"}) == 1);
}

TEST_CASE("time without an op is kept apart by kind, derived lines are passed over") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  proto::XLine* line = plane.Line("Stream #1(Compute)");
  plane.OpEvent(line, "a", 0, 10, 1);
  plane.Stat(plane.Event(line, 10, 20), "kernel_details")->set_str_value("regs:1");
  plane.Stat(plane.Event(line, 30, 40), "memcpy_details")->set_str_value("size:1");
  plane.Event(line, 70, 80);
  plane.OpEvent(plane.Line("XLA Ops", 3), "a", 0, 1000, 1);
  const auto devices = ReadSpace(space);
  CHECK(devices[0].busy == 150);
  CHECK(devices[0].events == 4);
  CHECK(devices[0].unattributed == std::array<Picoseconds, 4>{80, 20, 40, 0});
}

TEST_CASE("aggregated events give their mean") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  proto::XLine* line = plane.Line("Stream #1(Compute)");
  for (const int64_t total : {300, 600}) {
    proto::XEvent* event = plane.OpEvent(line, "gemm", 0, total, 1);
    event->set_num_occurrences(3);
  }
  const auto devices = ReadSpace(space);
  REQUIRE(devices[0].ops.size() == 1);
  CHECK_FALSE(devices[0].ops[0].has_times);
  CHECK(ByOp(devices)[{"/device:GPU:0", "gemm"}] == ExecutionList{{0, 300}});
}

TEST_CASE("a program of one op: every event is an execution where there are no scope ids") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  proto::XLine* line = plane.Line("Stream #1(Compute)");
  for (int run = 0; run < 3; ++run) {
    plane.Stat(plane.OpEvent(line, "only", run * 1000, 10), "correlation_id")
        ->set_uint64_value(static_cast<uint64_t>(run + 1));
  }
  CHECK(ByOp(ReadSpace(space))[{"/device:GPU:0", "only"}] ==
        ExecutionList{{0, 10}, {1000, 10}, {2000, 10}});
}

TEST_CASE("times that cannot be are damage") {
  for (const int64_t duration : {int64_t{-1}, int64_t{1} << 60}) {
    proto::XSpace space = OneDevice();
    PlaneBuilder plane(space.mutable_planes(0));
    plane.OpEvent(plane.Line("Stream #1(Compute)"), "op", 0, duration, 1);
    const TempDir dir;
    const Result<Input> input = Input::Open(dir.File("x", space.SerializeAsString()));
    const auto index = IndexXSpace(*input);
    REQUIRE(index.ok());
    CHECK_FALSE(ReadDeviceTrace(*input, index->planes[0]).ok());
  }
}

TEST_CASE("a display name behind the events counts") {
  proto::XSpace space = OneDevice();
  PlaneBuilder plane(space.mutable_planes(0));
  plane.OpEvent(plane.Line("Stream #1(Compute)"), "a", 0, 10, 1);
  proto::XLine* derived = plane.Line("line", 2);
  derived->set_display_name("XLA Ops");
  plane.OpEvent(derived, "a", 0, 1000, 1);
  CHECK(ByOp(ReadSpace(space))[{"/device:GPU:0", "a"}] == ExecutionList{{0, 10}});
}

}  // namespace
}  // namespace pgle
