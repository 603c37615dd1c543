#include "trace/xspace_writer.h"

#include <doctest/doctest.h>

#include "base/test_support.h"
#include "trace/executions.h"
#include "trace/xspace.h"
#include "xplane.pb.h"

using namespace pgle;

namespace {

// Events that are more than the writer holds at once.
void AddManyEvents(PlaneWriter* plane, uint64_t count) {
  const uint64_t scope = plane->StatId("scope_range_id");
  const std::string shared =
      StatField(RefStat(plane->StatId("hlo_op"), plane->StatId("fusion"))) +
      StatField(RefStat(plane->StatId("hlo_module"), plane->StatId("jit_step"))) +
      StatField(IntegerStat(plane->StatId("program_id"), -7));
  const uint64_t metadata = plane->AddEventMetadata("kernel", {}, {});
  plane->AddLine(24, "Stream #24(Compute)", 1000, [=](EventSink& sink) {
    std::string stats;
    for (uint64_t i = 0; i < count; ++i) {
      stats.clear();
      AppendIntegerStatField(stats, scope, static_cast<int64_t>(i));
      sink.Add(metadata, static_cast<Picoseconds>(i * 1'000'000), 5'000, shared, stats);
    }
  });
}

}  // namespace

TEST_CASE("A space parses as what was written") {
  std::string bytes;
  XSpaceWriter space([&](std::string_view part) -> Status {
    bytes += part;
    return {};
  });
  PlaneWriter plane("/device:GPU:3", 3);
  AddManyEvents(&plane, 2);
  plane.AddStat(DoubleStat(plane.StatId("share"), 0.25));
  plane.AddStat(TextStat(plane.StatId("text"), "t"));
  plane.AddStat(BytesStat(plane.StatId("bytes"), std::string("\0x", 2)));
  plane.AddStat(UnsignedStat(plane.StatId("large"), UINT64_MAX));
  CHECK(plane.AddEventMetadata("module(1)", "shown", {UnsignedStat(1, 5)}) == 2);
  REQUIRE(space.Plane(plane).ok());
  REQUIRE(space.Warning("careful").ok());
  REQUIRE(space.Hostname("host").ok());

  proto::XSpace read;
  REQUIRE(read.ParseFromString(bytes));
  CHECK(read.warnings(0) == "careful");
  CHECK(read.hostnames(0) == "host");
  REQUIRE(read.planes_size() == 1);
  const proto::XPlane& device = read.planes(0);
  CHECK(device.id() == 3);
  CHECK(device.name() == "/device:GPU:3");
  REQUIRE(device.lines_size() == 1);
  CHECK(device.lines(0).id() == 24);
  CHECK(device.lines(0).timestamp_ns() == 1000);
  REQUIRE(device.lines(0).events_size() == 2);
  const proto::XEvent& event = device.lines(0).events(1);
  CHECK(event.offset_ps() == 1'000'000);
  CHECK(event.duration_ps() == 5'000);
  REQUIRE(event.stats_size() == 4);
  CHECK(event.stats(2).int64_value() == -7);
  CHECK(event.stats(3).int64_value() == 1);
  CHECK(device.stat_metadata().at(static_cast<int64_t>(event.stats(0).ref_value())).name() ==
        "fusion");
  CHECK(device.event_metadata().at(2).display_name() == "shown");
  CHECK(device.event_metadata().at(2).stats(0).uint64_value() == 5);
  CHECK(device.stats(0).double_value() == 0.25);
  CHECK(device.stats(1).str_value() == "t");
  CHECK(device.stats(2).bytes_value() == std::string("\0x", 2));
  CHECK(device.stats(3).uint64_value() == UINT64_MAX);
}

TEST_CASE("A long line comes in pieces, and is read back whole") {
  std::string bytes;
  size_t largest = 0;
  XSpaceWriter space([&](std::string_view part) -> Status {
    largest = std::max(largest, part.size());
    bytes += part;
    return {};
  });
  PlaneWriter plane("/device:GPU:0", 0);
  AddManyEvents(&plane, 50'000);
  REQUIRE(space.Plane(plane).ok());
  CHECK(bytes.size() > 1'000'000);
  CHECK(largest < 300'000);

  const TempDir dir;
  const Result<Input> input = Input::Open(dir.File("a.xplane.pb", bytes));
  REQUIRE(input.ok());
  const Result<XSpaceIndex> index = IndexXSpace(*input);
  REQUIRE(index.ok());
  const Result<DeviceTrace> trace = ReadDeviceTrace(*input, index->planes[0]);
  REQUIRE(trace.ok());
  REQUIRE(trace->ops.size() == 1);
  CHECK(trace->ops[0].op.name == "fusion");
  CHECK(trace->ops[0].op.program_id == -7);
  CHECK(trace->ops[0].executions.size() == 50'000);
  CHECK(trace->ops[0].executions[49'999].start == 1'000'000 + Picoseconds{49'999} * 1'000'000);
}

TEST_CASE("An output that fails ends the writing") {
  uint64_t calls = 0;
  XSpaceWriter space([&](std::string_view) -> Status {
    return ++calls > 3 ? Status(Failed("disk", "full")) : Status();
  });
  PlaneWriter plane("/device:GPU:0", 0);
  AddManyEvents(&plane, 50'000);
  const Status status = space.Plane(plane);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().what == "full");
}

TEST_CASE("A line that changes between measuring and writing is a fault, not a damaged file") {
  XSpaceWriter space([](std::string_view) -> Status { return {}; });
  PlaneWriter plane("/device:GPU:0", 0);
  int calls = 0;
  plane.AddLine(1, "line", 0, [&](EventSink& sink) {
    for (int i = 0; i <= calls; ++i) sink.Add(1, 0, 1, {}, {});
    ++calls;
  });
  CHECK_FALSE(space.Plane(plane).ok());
}
