#include "capture/convert/spill_reader.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/test_support.h"
#include "capture/convert/spill_builder.h"

using namespace pgle;

namespace {

// Three chunks of kernels, of one, two and three records.
SpillBuilder Recording() {
  SpillBuilder spill;
  spill.KernelName("k");
  for (uint32_t i = 1; i <= 3; ++i) {
    for (uint32_t j = 0; j < i; ++j) spill.Kernel(i, 100 * i, 100 * i + 10);
    spill.Flush();
  }
  spill.End(9999);
  return spill;
}

struct Read {
  Input input;
  SpillFile file;
  Diagnostics diagnostics;
  size_t kernels = 0;
};

Read ReadBytes(const TempDir& dir, const std::string& bytes) {
  Result<Input> input = Input::Open(dir.File("a.spill", bytes));
  REQUIRE(input.ok());
  Read read{std::move(*input), {}, {}, 0};
  Result<SpillFile> file = ReadSpill(read.input, &read.diagnostics);
  REQUIRE(file.ok());
  read.file = std::move(*file);
  for (const auto& chunk : read.file.kernels) {
    for (const recorder::KernelRecord& record : chunk) {
      CHECK(record.start == 100 * record.correlation);
      ++read.kernels;
    }
  }
  return read;
}

std::string WhyNot(const std::string& bytes) {
  const TempDir dir;
  const Result<Input> input = Input::Open(dir.File("a.spill", bytes));
  REQUIRE(input.ok());
  Diagnostics diagnostics;
  const Result<SpillFile> file = ReadSpill(*input, &diagnostics);
  return file.ok() ? "" : file.error().what;
}

}  // namespace

TEST_CASE("A whole recording") {
  const TempDir dir;
  SpillBuilder spill;
  recorder::DeviceInfo device;
  device.ordinal = 1;
  spill.Device(device);
  device.ordinal = 0;
  spill.Device(device);
  spill.Facts({{"command", "python train.py"}, {"cupti", "/x/libcupti.so.13"}});
  const uint32_t range = spill.Stack({"outer", "inner"});
  spill.Launch(3, range, 50, 1, 2, 0);
  spill.Flush();
  spill.Window(recorder::WindowState::kOpen, 77, "outer", 3, 8, "--steps 3:8");
  recorder::Counters counters;
  counters.dropped_records = 1;
  spill.Counters(counters);
  counters.dropped_records = 5;
  spill.Counters(counters);
  spill.End(99);
  const Read read = ReadBytes(dir, spill.bytes());
  const SpillFile& file = read.file;
  CHECK(file.process.pid == 4242);
  REQUIRE(file.devices.size() == 2);
  CHECK(file.devices[1].ordinal == 1);
  CHECK(file.Fact("command") == "python train.py");
  CHECK(file.Fact("cupti") == "/x/libcupti.so.13");
  CHECK(file.Fact("absent").empty());
  REQUIRE(file.ranges.size() > range);
  CHECK(file.strings[file.ranges[range].string] == "inner");
  CHECK(file.strings[file.ranges[file.ranges[range].parent].string] == "outer");
  REQUIRE(file.events.size() == 1);
  CHECK(file.tids == std::vector<uint32_t>{1003});
  CHECK(file.events[0].events[0].launch.time == 50);
  REQUIRE(file.window.size() == 1);
  CHECK(file.window[0].reason == "--steps 3:8");
  CHECK(file.window[0].change.last == 8);
  CHECK(file.counters.dropped_records == 5);
  CHECK(file.has_end);
  CHECK(file.end_time == 99);
  CHECK(read.diagnostics.items().empty());
}

TEST_CASE("Cut at any byte, all whole chunks before are read") {
  const TempDir dir;
  const SpillBuilder spill = Recording();
  const std::vector<size_t>& offsets = spill.offsets();
  for (size_t size = offsets[1]; size < spill.bytes().size(); ++size) {
    const Read read = ReadBytes(dir, spill.bytes().substr(0, size));
    size_t whole = 0;  // chunks of kernels that end before the cut; the first is offsets[2]
    for (size_t i = 2; i + 1 < offsets.size(); ++i) whole += offsets[i + 1] <= size ? i - 1 : 0;
    CHECK(read.kernels == whole);
    CHECK(read.file.damaged_chunks == 0);
    CHECK_FALSE(read.file.has_end);
    const bool is_between = std::find(offsets.begin(), offsets.end(), size) != offsets.end();
    CHECK(read.file.is_cut == !is_between);
    CHECK(read.diagnostics.items().size() == (is_between ? 0 : 1));
  }
}

TEST_CASE("A damaged byte costs its own chunk alone") {
  const TempDir dir;
  const SpillBuilder spill = Recording();
  const std::vector<size_t>& offsets = spill.offsets();
  for (size_t at = offsets[3]; at < offsets[4]; ++at) {         // the chunk of two
    if (at - offsets[3] >= 4 && at - offsets[3] < 8) continue;  // the type has no checksum
    std::string bytes = spill.bytes();
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    const Read read = ReadBytes(dir, bytes);
    CHECK(read.kernels == 4);
    CHECK(read.file.has_end);
    CHECK_FALSE(read.file.is_cut);
    CHECK(read.file.damaged_chunks == 1);
    REQUIRE(read.diagnostics.items().size() == 1);
    CHECK(read.diagnostics.items()[0].severity == Diagnostic::Severity::kWarning);
  }
}

TEST_CASE("Behind a torn write chunks lie at odd places, and are read") {
  const TempDir dir;
  const SpillBuilder spill = Recording();
  const std::vector<size_t>& offsets = spill.offsets();
  for (size_t torn : {1, 3, 17, 50}) {
    const std::string bytes =
        spill.bytes().substr(0, offsets[3] + torn) + spill.bytes().substr(offsets[4]);
    const Read read = ReadBytes(dir, bytes);
    CHECK(read.kernels == 4);
    CHECK(read.file.damaged_chunks == 1);
    CHECK(read.file.has_end);
  }
}

TEST_CASE("Not a recording") {
  CHECK(WhyNot("").find("not a recording") == 0);
  CHECK(WhyNot("PGCK").find("not a recording") == 0);
  CHECK(WhyNot(std::string(100, 'x')).find("not a recording") == 0);
  SpillBuilder spill;
  std::string bytes = spill.bytes();
  bytes[20] = 9;  // the version's checksum no longer holds
  CHECK(WhyNot(bytes).find("not a recording") == 0);
  SpillBuilder newer;
  recorder::ProcessInfo process;
  process.version = 2;
  newer.Chunk(recorder::ChunkType::kProcess, SpillBuilder::Pod(process));
  CHECK(WhyNot(newer.bytes().substr(newer.offsets()[1])) ==
        "a recording of version 2, and version 1 is known here");
}

TEST_CASE("Headers that each claim the rest of the file take no more than the file is long") {
  std::string bytes = Recording().bytes();
  constexpr uint32_t kHeaders = 100'000;  // to the square would be minutes
  for (uint32_t i = 1; i <= kHeaders; ++i) {
    recorder::ChunkHeader header;
    header.size = (kHeaders - i) * static_cast<uint32_t>(sizeof(header));
    header.crc32 = 1;
    bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
  }
  const TempDir dir;
  const Read read = ReadBytes(dir, bytes);
  CHECK(read.kernels == 6);
  CHECK(read.file.damaged_chunks == 1);
}
