// Recordings that lack something: what is kept, and what is said.
#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>

#include "capture/convert/run_reader.h"

using namespace pgle;
using recorder::WindowState;

namespace {

constexpr char kStep[] = "XlaModule:#hlo_module=jit_step,program_id=7#";

// The recording with one of its 32-bit words changed, and the checksum right.
std::string WithWord(std::string bytes, size_t chunk, size_t at, uint32_t value) {
  recorder::ChunkHeader header;
  memcpy(&header, bytes.data() + chunk, sizeof(header));
  char* const payload = bytes.data() + chunk + sizeof(header);
  memcpy(payload + at, &value, sizeof(value));
  header.crc32 =
      static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(payload), header.size));
  memcpy(bytes.data() + chunk, &header, sizeof(header));
  return bytes;
}

// Four steps of which all are in the window; the caller writes the end.
SpillBuilder Steps(bool closing) {
  SpillBuilder spill;
  const uint32_t module = spill.Stack({kStep});
  const uint32_t range = spill.Range(module, "Thunk:#hlo_op=fusion#");
  spill.Window(WindowState::kOpen, 10'000, kStep, 0, closing ? 4 : 100);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint64_t time = 10'000 + 1'000 * i;
    spill.ModuleBegin(0, 0, module, time, i, i + 1);
    spill.Launch(0, range, time + 10, i + 1, i + 1, i + 1);
    spill.Kernel(i + 1, time + 500, time + 600, "fusion");
    spill.ModuleEnd(0, 0, module, time + 100, i, i + 1);
    spill.Flush();
  }
  if (closing) spill.Window(WindowState::kClosing, 14'000, kStep, 0, 4);
  return spill;
}

}  // namespace

TEST_CASE("A process that was killed inside the window leaves the steps up to there") {
  const ConvertedRun run = ConvertBytes(Steps(false).bytes());
  REQUIRE(run.error.empty());
  CHECK(run.device.size() == 4);
  CHECK_FALSE(run.summary.is_complete);
  CHECK_FALSE(run.summary.has_ended);
  CHECK(run.summary.last_step == 4);
  CHECK(run.Says("the recording was cut"));
}

TEST_CASE("Cut anywhere, a recording converts or says in one line why not") {
  const SpillBuilder spill = Steps(true);
  size_t converted = 0;
  for (size_t size = 0; size <= spill.bytes().size(); size += 8) {
    const ConvertedRun run = ConvertBytes(spill.bytes().substr(0, size));
    CHECK(run.error.find('\n') == std::string::npos);
    if (!run.error.empty()) continue;
    ++converted;
    CHECK(run.device.size() <= 4);
    CHECK_FALSE(run.device.empty());
  }
  CHECK(converted > 80);
}

TEST_CASE("Damaged anywhere, a recording converts or says in one line why not") {
  const SpillBuilder spill = Steps(true);
  for (size_t at = 0; at < spill.bytes().size(); at += 3) {
    std::string bytes = spill.bytes();
    bytes[at] = static_cast<char>(~bytes[at]);
    const ConvertedRun run = ConvertBytes(bytes);
    CHECK(run.error.find('\n') == std::string::npos);
    CHECK(run.device.size() <= 4);
  }
}

TEST_CASE("Records without times are left out, counted and warned of") {
  SpillBuilder spill = Steps(true);
  spill.Kernel(1, 0, 10'600);
  spill.Kernel(1, 10'500, 0);
  spill.Kernel(1, 10'500, 10'400);
  spill.End(20'000);
  const ConvertedRun run = ConvertBytes(spill.bytes());
  CHECK(run.device.size() == 4);
  CHECK(run.summary.untimed_records == 3);
  CHECK(run.Says("3 records had no time"));
}

TEST_CASE("What the recorder lost is told, also in the run") {
  SpillBuilder spill = Steps(true);
  recorder::Counters counters;
  counters.dropped_records = 12;
  counters.lost_events = 3;
  counters.lost_strings = 2;
  counters.dropped_buffers = 1;
  counters.write_errors = 6;
  spill.Counters(counters);
  const recorder::ClockPair clocks[] = {{2'000'000'000, 1'000'000'000},
                                        {2'005'000'000, 1'002'000'000}};
  spill.Chunk(recorder::ChunkType::kClock, SpillBuilder::Pod(clocks));
  spill.Window(WindowState::kClosed, 20'000, kStep);
  spill.End(20'000);
  const ConvertedRun run = ConvertBytes(spill.bytes());
  CHECK(run.summary.dropped_records == 12);
  CHECK(run.Says("12 records were dropped"));
  CHECK(run.Says("3 launches, module runs or graph nodes were lost"));
  CHECK(run.Says("2 texts of ranges were lost"));
  CHECK(run.Says("1 full buffers of records were dropped"));
  CHECK(run.Says("6 parts of the recording could not be written"));
  CHECK(run.Says("the clock was set by 3.0 ms"));
  REQUIRE(run.space.warnings_size() == 6);
  CHECK(run.space.warnings(0) == "pgle-capture: 12 records were dropped");
}

TEST_CASE("Nothing to write") {
  SpillBuilder never;
  never.End(1);
  CHECK(ConvertBytes(never.bytes()).error == "the window never opened: no kernel was recorded");
  SpillBuilder empty;
  empty.Window(WindowState::kOpen, 10, "", 0, 0);
  empty.Window(WindowState::kClosing, 20);
  empty.Kernel(1, 30, 40);
  empty.End(50);
  CHECK(ConvertBytes(empty.bytes()).error == "no kernel was recorded inside the window");
}

TEST_CASE("Without an output the times of modules are summed up") {
  SpillBuilder spill;
  const uint32_t module = spill.Stack({kStep});
  for (uint32_t i = 0; i < 11; ++i) {
    // One step is slow.
    const uint64_t time = 10'000 + 2'000 * i + (i > 5 ? 3'000 : 0);
    spill.ModuleBegin(0, 0, module, time, i, i + 1);
  }
  spill.End(99'000);
  const TempDir dir;
  ConvertOptions options;
  options.spill = dir.File("1.spill", spill.bytes());
  Diagnostics diagnostics;
  const Result<CaptureSummary> summary = ConvertSpill(options, &diagnostics);
  REQUIRE(summary.ok());
  CHECK_FALSE(summary->has_window);
  CHECK(summary->output.empty());
  REQUIRE(summary->modules.size() == 1);
  const ModuleRuns& runs = summary->modules[0];
  CHECK(runs.name == "jit_step");
  CHECK(runs.program_id == 7);
  CHECK(runs.executions == 11);
  CHECK(runs.outside.count == 10);
  CHECK(runs.outside.median_us == 2);
  CHECK(runs.outside.mean_us == doctest::Approx(2.3));
  CHECK(runs.outside.p90_us == 2);
  CHECK(runs.inside.count == 0);
  CHECK(runs.starts.size() == 11);
}

TEST_CASE("Any number in a recording may be wrong: it converts or says in one line why not") {
  const std::string bytes = Steps(true).bytes();
  size_t converted = 0;
  for (size_t chunk = 0; chunk < bytes.size();) {
    recorder::ChunkHeader header;
    memcpy(&header, bytes.data() + chunk, sizeof(header));
    for (size_t at = 0; at < header.size; at += 4) {
      for (const uint32_t value : {0u, 1u, 255u, 0x7fffffffu, 0x80000000u, 4'000'000'000u}) {
        const ConvertedRun run = ConvertBytes(WithWord(bytes, chunk, at, value));
        CHECK(run.error.find('\n') == std::string::npos);
        converted += run.error.empty();
      }
    }
    chunk += sizeof(header) + header.size;
  }
  CHECK(converted > 1000);
}

TEST_CASE("A kernel that takes days is damage, and has no time") {
  SpillBuilder spill = Steps(true);
  spill.Kernel(1, 10'500, uint64_t{1} << 62, "fusion");
  spill.Flush();
  const ConvertedRun run = ConvertBytes(spill.bytes());
  REQUIRE(run.error.empty());
  CHECK(run.device.size() == 4);
  CHECK(run.summary.untimed_records == 1);
}

// Each of these took hours, or all memory, where records were compared with each other.
TEST_CASE("Many records of one launch, and many at one time, take no more than their number") {
  SpillBuilder spill;
  const uint32_t module = spill.Stack({kStep});
  spill.Window(WindowState::kOpen, 10'000, kStep, 0, 1);
  spill.ModuleBegin(0, 0, module, 10'000, 0, 1);
  constexpr uint32_t kCount = 60'000;
  for (uint32_t i = 0; i < kCount; ++i) spill.Launch(0, module, 10'010, 7, i + 1, 1);
  for (uint32_t i = 0; i < kCount; ++i) {
    spill.Kernel(7, 10'500, 9'000'000, "fusion", 0, uint64_t{5} << 32 | i);
  }
  spill.ModuleEnd(0, 0, module, 10'900, 0, 1);
  spill.Flush();
  spill.Window(WindowState::kClosing, 14'000, kStep, 0, 1);
  const ConvertedRun run = ConvertBytes(spill.bytes());
  REQUIRE(run.error.empty());
  CHECK(run.device.size() == kCount);
}
