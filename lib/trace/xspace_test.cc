#include "trace/xspace.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/test_support.h"
#include "trace/executions.h"
#include "trace/space_builder.h"

namespace pgle {
namespace {

proto::XSpace SmallSpace() {
  proto::XSpace space;
  space.add_hostnames("vm");
  space.add_warnings("12 events dropped");
  space.add_planes()->set_name("/host:CPU");
  space.add_planes()->set_name("/device:GPU:1");
  PlaneBuilder plane(space.mutable_planes(1));
  proto::XLine* line = plane.Line("Stream #1(Compute)");
  for (int i = 0; i < 5; ++i) plane.OpEvent(line, "op", i * 10, 5, i + 1);
  return space;
}

// The error of reading all of a trace, or none.
Status ReadAll(const std::string& path) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path));
  PGLE_ASSIGN_OR_RETURN(const XSpaceIndex index, IndexXSpace(input));
  for (size_t plane : DevicePlanes(index)) {
    PGLE_ASSIGN_OR_RETURN(const DeviceTrace device, ReadDeviceTrace(input, index.planes[plane]));
  }
  PGLE_ASSIGN_OR_RETURN([[maybe_unused]] const auto modules, ModulesInTrace(input, index));
  PGLE_ASSIGN_OR_RETURN([[maybe_unused]] const uint64_t start, ProfileStartTime(input, index));
  return {};
}

TEST_CASE("a real trace: planes, host, modules, start time") {
  const auto input = Input::Open(TestRun("fsdp_scan/trace/vm.xplane.pb.zst"));
  REQUIRE(input.ok());
  const auto index = IndexXSpace(*input);
  REQUIRE(index.ok());
  CHECK(index->hostnames == std::vector<std::string>{"vm"});
  CHECK(DevicePlanes(*index).size() == 2);
  const auto modules = ModulesInTrace(*input, *index);
  REQUIRE(modules.ok());
  bool found = false;
  for (const TraceModule& module : *modules) {
    found |= module.name == "jit_train_step" && module.program_id == 2667;
  }
  CHECK(found);
  CHECK(ProfileStartTime(*input, *index).value() == 1796048855264951895u);
}

TEST_CASE("GPU planes first, then TPU, then custom ones") {
  XSpaceIndex index;
  index.planes = {{"/device:CUSTOM:x", {}}, {"/device:TPU:0", {}}, {"/host:CPU", {}}};
  CHECK(DevicePlanes(index) == std::vector<size_t>{1});
  index.planes.push_back({"/device:GPU:0", {}});
  CHECK(DevicePlanes(index) == std::vector<size_t>{3});
  index.planes = {{"/device:CUSTOM:x", {}}};
  CHECK(DevicePlanes(index) == std::vector<size_t>{0});
}

TEST_CASE("a trace cut inside a plane is refused with the offset") {
  const TempDir dir;
  const std::string bytes = SmallSpace().SerializeAsString();
  REQUIRE(ReadAll(dir.File("whole", bytes)).ok());
  size_t refused = 0;
  for (size_t size = 1; size < bytes.size(); ++size) {
    const Status status = ReadAll(dir.File("cut", bytes.substr(0, size)));
    if (status.ok()) continue;  // cut between two fields of the top level: a shorter, valid space
    ++refused;
    CHECK(status.error().what.find("byte ") != std::string::npos);
  }
  CHECK(refused + 6 > bytes.size());
}

TEST_CASE("damaged bytes never do more than fail") {
  const TempDir dir;
  const std::string bytes = SmallSpace().SerializeAsString();
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      (void)ReadAll(dir.File("damaged", damaged)).ok();
    }
  }
}

TEST_CASE("foreign files are told from cut ones") {
  const TempDir dir;
  for (const char* content : {"{\"traceEvents\": []}", "I1130 14:27:47.197362 log line",
                              "\x7f"
                              "ELF\x02\x01\x01"}) {
    const Status status = ReadAll(dir.File("foreign", content));
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().hint.find(".xplane.pb") != std::string::npos);
  }
}

TEST_CASE("a file beyond 2 GiB is read, whatever stands in the way") {
  const TempDir dir;
  const std::string path = dir.path / "large.xplane.pb";
  constexpr uint64_t kFiller = (uint64_t{5} << 30) + 123;  // sparse: takes no disk
  {
    // A plane called "/host:CPU" with one unknown field of zeros that fills it.
    std::string varint;
    for (uint64_t v = kFiller; v != 0; v >>= 7) {
      varint += static_cast<char>((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    }
    const std::string field = "\x12\x09/host:CPU\x7a" + varint;
    std::string plane_size;
    for (uint64_t v = kFiller + field.size(); v != 0; v >>= 7) {
      plane_size += static_cast<char>((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    }
    const std::string head = "\x0a" + plane_size + field;
    std::ofstream(path, std::ios::binary) << head;
    REQUIRE(truncate(path.c_str(), static_cast<off_t>(head.size() + kFiller)) == 0);
    std::ofstream(path, std::ios::binary | std::ios::app) << SmallSpace().SerializeAsString();
  }
  const auto input = Input::Open(path);
  REQUIRE(input.ok());
  const auto index = IndexXSpace(*input);
  REQUIRE(index.ok());
  REQUIRE(DevicePlanes(*index).size() == 1);
  const auto device = ReadDeviceTrace(*input, index->planes[DevicePlanes(*index)[0]]);
  REQUIRE(device.ok());
  CHECK(device->events == 5);
}

}  // namespace
}  // namespace pgle
