#include "samples/sample_file.h"

#include <doctest/doctest.h>
#include <zstd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <random>
#include <sstream>

#include "base/sha256.h"
#include "samples/sample_wire.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

struct TempDir {
  fs::path path;
  TempDir() {
    std::string pattern = (fs::temp_directory_path() / "pgle-samples-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TempDir() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path / name; }
  std::string File(const std::string& name, const std::string& content) const {
    fs::remove(path / name);  // to replace a file's content is slow on ext4, which syncs it
    std::ofstream(path / name, std::ios::binary) << content;
    return path / name;
  }
};

std::string Slurp(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

struct Samples {
  SampleHeader header;
  std::vector<SampleRecord> records;
  friend bool operator==(const Samples&, const Samples&) = default;
};

std::string Id(int i) {
  return Sha256Of(std::to_string(i));
}

Samples Small() {
  std::vector<std::string> ids = {Id(1), Id(2)};
  std::sort(ids.begin(), ids.end());
  Samples samples;
  samples.header.processes = {{ids[0], "host-a/a.xplane.pb", {"/device:GPU:0", ""}},
                              {ids[1], "host-b/b.xplane.pb", {"/device:GPU:0"}}};
  samples.header.modules = {{"jit_init", "", {}, 0}, {"jit_step", "0123abcd", {0, 1}, 123'456'789}};
  samples.records = {
      {0, "copy.1", "", 0, 0, SampleClass::kNoActivity, 0, {}},
      {1, "all-reduce.1", "", 0, 0, SampleClass::kCollective, 2, {0, 1, 127, 128, 5'000'000}},
      {1, "all-reduce.1", "", 0, 1, SampleClass::kCollective, 2, {INT64_MAX}},
      {1, "all-reduce.1", "", 1, 0, SampleClass::kCollective, 2, {7, 7, 7}},
      {1, "fusion", "fusion.7.remat", 1, UINT32_MAX, SampleClass::kCompute, 0, {300}},
      {1, "while", "", 1, 0, SampleClass::kCalled, 0, {9}},
  };
  return samples;
}

Status Write(const std::string& path, const Samples& samples) {
  PGLE_ASSIGN_OR_RETURN(SampleWriter writer, SampleWriter::Create(path, samples.header));
  for (const SampleRecord& record : samples.records) PGLE_RETURN_IF_ERROR(writer.Add(record));
  return writer.Finish();
}

Result<Samples> Read(const std::string& path) {
  PGLE_ASSIGN_OR_RETURN(SampleReader reader, SampleReader::Open(path));
  Samples samples{reader.header(), {}};
  SampleRecord record;
  while (true) {
    PGLE_ASSIGN_OR_RETURN(const bool more, reader.Next(&record));
    if (!more) return samples;
    samples.records.push_back(record);
  }
}

// What the writer would refuse to write, with a trailer that fits unless told otherwise.
struct Raw {
  std::string header;
  std::vector<std::string> records;
  uint64_t durations = 0;
  int64_t record_error = 0, duration_error = 0;
  bool damage_checksum = false;
  std::string between;  // before the trailer
  std::string after;    // behind it
  bool has_trailer = true;

  explicit Raw(const Samples& samples) {
    sample_wire::EncodeHeader(samples.header, &header);
    for (const SampleRecord& record : samples.records) {
      sample_wire::EncodeRecord(record, &records.emplace_back());
      durations += record.durations.size();
    }
  }

  std::string Bytes() const {
    std::string bytes = sample_wire::EncodeHead(sample_wire::kHeaderTag, header.size()) + header;
    for (const std::string& record : records) {
      bytes += sample_wire::EncodeHead(sample_wire::kRecordTag, record.size()) + record;
    }
    bytes += between;
    if (!has_trailer) return bytes;
    std::string trailer;
    sample_wire::EncodeTrailer({records.size() + record_error, durations + duration_error,
                                Sha256Of(bytes + (damage_checksum ? "x" : ""))},
                               &trailer);
    bytes += sample_wire::EncodeHead(sample_wire::kTrailerTag, trailer.size()) + trailer;
    return bytes + after;
  }
};

// Reads a file with this content; returns the error, which must be whole and name the file.
std::string ErrorOf(const std::string& content) {
  const TempDir dir;
  const std::string path = dir.File("bad.pgle", content);
  const Result<Samples> result = Read(path);
  REQUIRE_FALSE(result.ok());
  const Error& error = result.error();
  CHECK(error.code == ErrorCode::kFailed);
  CHECK(error.where == path);
  CHECK(!error.hint.empty());
  CHECK((error.what + error.hint).find('\n') == std::string::npos);
  return error.what;
}

bool Has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("\"" << text << "\" lacks \"" << part << "\"");
  return found;
}

TEST_CASE("what is written is read, and written again with the same bytes") {
  const TempDir dir;
  const Samples samples = Small();
  REQUIRE(Write(dir / "a", samples).ok());
  const Result<Samples> read = Read(dir / "a");
  REQUIRE(read.ok());
  CHECK(*read == samples);
  REQUIRE(Write(dir / "b", *read).ok());
  const std::string bytes = Slurp(dir / "a");
  CHECK(bytes == Slurp(dir / "b"));
  CHECK(ZSTD_getFrameContentSize(bytes.data(), bytes.size()) == ZSTD_CONTENTSIZE_UNKNOWN);
  CHECK(std::distance(fs::directory_iterator(dir.path), fs::directory_iterator()) == 2);
}

TEST_CASE("the message inside is the documented one") {
  const TempDir dir;
  REQUIRE(Write(dir / "a", Small()).ok());
  const std::string packed = Slurp(dir / "a");
  std::string bytes(1 << 16, '\0');
  ZSTD_DCtx* context = ZSTD_createDCtx();
  bytes.resize(
      ZSTD_decompressDCtx(context, bytes.data(), bytes.size(), packed.data(), packed.size()));
  ZSTD_freeDCtx(context);
  CHECK(bytes == Raw(Small()).Bytes());

  // By hand: module 1, name, process 1, class 1, group size 2, durations packed.
  std::string record;
  sample_wire::EncodeRecord({1, "ag", "", 1, 0, SampleClass::kCollective, 2, {1, 300}}, &record);
  CHECK(record == std::string("\x08\x01\x12\x02"
                              "ag\x20\x01\x30\x01\x38\x02\x42\x03\x01\xac\x02"));
}

TEST_CASE("empty headers and files without records") {
  const TempDir dir;
  Samples samples;
  samples.header.statistic = "";
  REQUIRE(Write(dir / "a", samples).ok());
  const Result<Samples> read = Read(dir / "a");
  REQUIRE(read.ok());
  CHECK(*read == samples);
}

TEST_CASE("the end and errors stay what they are") {
  const TempDir dir;
  REQUIRE(Write(dir / "a", Small()).ok());
  Result<SampleReader> reader = SampleReader::Open(dir / "a");
  REQUIRE(reader.ok());
  CHECK(reader->path() == dir / "a");
  SampleRecord record;
  for (size_t i = 0; i < Small().records.size(); ++i) REQUIRE(*reader->Next(&record));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(*reader->Next(&record));

  Raw raw(Small());
  raw.damage_checksum = true;
  Result<SampleReader> damaged = SampleReader::Open(dir.File("b", Zstd(raw.Bytes())));
  REQUIRE(damaged.ok());
  for (size_t i = 0; i < Small().records.size(); ++i) REQUIRE(*damaged->Next(&record));
  for (int i = 0; i < 3; ++i) CHECK_FALSE(damaged->Next(&record).ok());
}

TEST_CASE("a file cut anywhere is an error") {
  const TempDir dir;
  REQUIRE(Write(dir / "a", Small()).ok());
  const std::string bytes = Slurp(dir / "a");
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const std::string error = ErrorOf(bytes.substr(0, size));
    CHECK(Has(error, size == 0 ? "is empty" : "was cut"));
  }
}

TEST_CASE("a message cut anywhere, in a stream that is whole, is an error") {
  const std::string bytes = Raw(Small()).Bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const std::string error = ErrorOf(Zstd(bytes.substr(0, size)));
    CHECK(Has(error, size < 4 ? "" : "was cut"));
  }
}

TEST_CASE("no flipped bit changes what is read without an error") {
  const TempDir dir;
  const Samples samples = Small();
  REQUIRE(Write(dir / "a", samples).ok());
  const std::string packed = Slurp(dir / "a");
  const std::string plain = Raw(samples).Bytes();
  size_t harmless = 0;
  for (size_t bit = 0; bit < packed.size() * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = packed;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const Result<Samples> read = Read(dir.File("b", bytes));
    if (!read.ok()) continue;
    ++harmless;  // zstd ignores one bit of the frame header, and a larger window changes nothing
    CHECK(*read == samples);
  }
  CHECK(harmless < 16);
  for (size_t bit = 0; bit < plain.size() * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = plain;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    CHECK_FALSE(Read(dir.File("b", Zstd(bytes))).ok());
  }
}

TEST_CASE("files that are something else") {
  std::string cost, profile;
  protozero::pbf_writer(cost).add_string(1, "all-reduce.1");
  protozero::pbf_writer(cost).add_double(2, 12.5);
  protozero::pbf_writer(profile).add_message(1, cost);
  CHECK(Has(ErrorOf(profile), "is not a sample file"));
  CHECK(Has(ErrorOf(Zstd(profile)), "is not a sample file"));
  CHECK(Has(ErrorOf("x"), "is not a sample file"));
  CHECK(Has(ErrorOf("\x1f\x8b\x08 gzip"), "is not a sample file"));
  CHECK(Has(ErrorOf(Zstd("")), "is not a sample file"));
  CHECK(Has(ErrorOf(Zstd("HloModule jit_step")), "is not a sample file"));
  CHECK(Has(ErrorOf(Zstd(std::string(100'000, '\n'))), "is not a sample file"));

  const TempDir dir;
  const Result<SampleReader> missing = SampleReader::Open(dir / "missing");
  REQUIRE_FALSE(missing.ok());
  CHECK(Has(missing.error().what, "cannot open"));
  const Result<SampleReader> folder = SampleReader::Open(dir.path);
  REQUIRE_FALSE(folder.ok());
  CHECK(Has(folder.error().what, "cannot read"));
}

TEST_CASE("headers that break a rule") {
  const auto error = [](const std::function<void(Samples&)>& change) {
    Samples samples = Small();
    change(samples);
    const TempDir dir;
    const Status written = Write(dir / "a", samples);  // the writer holds to the same rules
    CHECK_FALSE(written.ok());
    CHECK(fs::is_empty(dir.path));
    return ErrorOf(Zstd(Raw(samples).Bytes()));
  };
  CHECK(Has(error([](Samples& s) { s.header.processes[1].id.pop_back(); }), "id of 31 bytes"));
  CHECK(Has(error([](Samples& s) { std::swap(s.header.processes[0], s.header.processes[1]); }),
            "process 1 is not sorted"));
  CHECK(Has(error([](Samples& s) { s.header.processes[1].id = s.header.processes[0].id; }),
            "comes twice"));
  CHECK(Has(error([](Samples& s) { std::swap(s.header.modules[0], s.header.modules[1]); }),
            "module 1 is not sorted"));
  CHECK(Has(error([](Samples& s) { s.header.modules[1] = s.header.modules[0]; }), "comes twice"));
  CHECK(Has(error([](Samples& s) { s.header.modules[1].processes = {0, 2}; }), "process 2 of 2"));
  CHECK(Has(error([](Samples& s) { s.header.modules[1].processes = {1, 0}; }), "not in order"));
  CHECK(Has(error([](Samples& s) { s.header.modules[1].processes = {1, 1}; }), "not in order"));
  CHECK(Has(error([](Samples& s) { s.header.modules[0].device_time = -1; }), "negative"));

  Raw raw(Small());
  raw.header[1] = 2;
  CHECK(Has(ErrorOf(Zstd(raw.Bytes())), "has version 2"));
  raw.header[1] = 0;
  CHECK(Has(ErrorOf(Zstd(raw.Bytes())), "has version 0"));
}

TEST_CASE("records that break a rule") {
  const auto error = [](const std::function<void(Samples&)>& change) {
    Samples samples = Small();
    change(samples);
    const TempDir dir;
    CHECK_FALSE(Write(dir / "a", samples).ok());
    CHECK(fs::is_empty(dir.path));
    return ErrorOf(Zstd(Raw(samples).Bytes()));
  };
  CHECK(Has(error([](Samples& s) { s.records[5].module = 2; }), "record 6 names module 2 of 2"));
  CHECK(Has(error([](Samples& s) { s.records[5].process = 2; }), "record 6 names process 2 of 2"));
  CHECK(Has(error([](Samples& s) { s.records[3].durations[1] = -1; }), "record 4 has a negative"));
  CHECK(Has(error([](Samples& s) { s.records[0].sample_class = static_cast<SampleClass>(6); }),
            "record 1 has class 6"));
  CHECK(Has(error([](Samples& s) { s.records[2] = s.records[1]; }), "record 3 is not sorted"));
  for (size_t i = 1; i < Small().records.size(); ++i) {
    CHECK(Has(error([i](Samples& s) { std::swap(s.records[i - 1], s.records[i]); }),
              "is not sorted"));
  }
}

TEST_CASE("a writer that failed, or finished, writes no more") {
  const TempDir dir;
  const Samples samples = Small();
  {
    Result<SampleWriter> writer = SampleWriter::Create(dir / "a", samples.header);
    REQUIRE(writer.ok());
    REQUIRE(writer->Add(samples.records[1]).ok());
    CHECK_FALSE(writer->Add(samples.records[0]).ok());
    CHECK_FALSE(writer->Add(samples.records[2]).ok());
    CHECK_FALSE(writer->Finish().ok());
  }
  CHECK(fs::is_empty(dir.path));
  Result<SampleWriter> writer = SampleWriter::Create(dir / "a", samples.header);
  REQUIRE(writer.ok());
  REQUIRE(writer->Finish().ok());
  CHECK_FALSE(writer->Add(samples.records[0]).ok());
  CHECK_FALSE(writer->Finish().ok());
  CHECK(Read(dir / "a").ok());
  CHECK_FALSE(SampleWriter::Create(dir / "no/folder", samples.header).ok());
}

TEST_CASE("trailers, and what follows them") {
  const auto error = [](const std::function<void(Raw&)>& change) {
    Raw raw(Small());
    change(raw);
    return ErrorOf(Zstd(raw.Bytes()));
  };
  CHECK(Has(error([](Raw& r) { r.record_error = 1; }), "6 records with 11"));
  CHECK(Has(error([](Raw& r) { r.record_error = -1; }), "trailer says 5 and 11"));
  CHECK(Has(error([](Raw& r) { r.duration_error = 1; }), "trailer says 6 and 12"));
  CHECK(Has(error([](Raw& r) { r.damage_checksum = true; }), "checksum differs"));
  CHECK(Has(error([](Raw& r) { r.has_trailer = false; }), "was cut after record 6: no trailer"));
  CHECK(Has(error([](Raw& r) { r.after = "x"; }), "goes on after its trailer"));
  CHECK(Has(error([](Raw& r) { r.after = r.Bytes(); }), "goes on after its trailer"));
  CHECK(Has(error([](Raw& r) { r.between = std::string("\x0a\x00", 2); }), "unknown field"));
  CHECK(Has(error([](Raw& r) { r.between = std::string("\x22\x00", 2); }), "unknown field"));
  CHECK(Has(error([](Raw& r) { r.records[1] = "\x08"; }), "record 2"));
  CHECK(Has(error([](Raw& r) {
              r.records[1] =
                  "\x12\x05"
                  "ab";
            }),
            "record 2"));
  CHECK(Has(error([](Raw& r) { r.records[1] = "\x08\x80\x80\x80\x80\x10"; }), "record 2"));

  const std::string good = Zstd(Raw(Small()).Bytes());
  for (const std::string& more :
       {std::string("x"), std::string("\n"), good, Zstd(""), std::string(100'000, '\0')}) {
    CHECK(Has(ErrorOf(good + more), "goes on after its trailer"));
  }
}

TEST_CASE("lengths that cannot be are refused before memory is taken for them") {
  Raw raw(Small());
  raw.has_trailer = false;
  for (const uint64_t size : {(uint64_t{1} << 30) + 1, uint64_t{1} << 34, ~uint64_t{0}}) {
    raw.between = sample_wire::EncodeHead(sample_wire::kRecordTag, size) + std::string(20, 'x');
    CHECK(Has(ErrorOf(Zstd(raw.Bytes())), "a length over 1 GiB"));
  }
  // Allowed, but not there.
  raw.between = sample_wire::EncodeHead(sample_wire::kRecordTag, 1 << 30) + std::string(20, 'x');
  CHECK(Has(ErrorOf(Zstd(raw.Bytes())), "was cut inside"));
}

TEST_CASE("files packed again with other parameters") {
  const TempDir dir;
  const std::string bytes = Raw(Small()).Bytes();
  for (const int window_log : {10, 23, 24}) {
    CAPTURE(window_log);
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string packed(1 << 16, '\0');
    ZSTD_outBuffer out{packed.data(), packed.size(), 0};
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);  // or the window shrinks to fit
    REQUIRE(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) == 0);
    ZSTD_freeCCtx(context);
    packed.resize(out.pos);
    if (window_log > 23) {
      CHECK(Has(ErrorOf(packed), "window over 8 MiB"));
    } else {
      CHECK(*Read(dir.File("a", packed)) == Small());
    }
  }
}

TEST_CASE("other encodings of the same message are read") {
  const TempDir dir;
  Raw raw(Small());
  // Numbers one by one, and fields of a later version.
  std::string& record = raw.records[3];
  record.clear();
  protozero::pbf_writer fields(record);
  for (int i = 0; i < 3; ++i) fields.add_int64(8, 7);
  fields.add_string(100, "later");
  fields.add_uint32(7, 2);
  fields.add_uint32(6, 1);
  fields.add_uint32(4, 1);
  fields.add_string(2, "all-reduce.1");
  fields.add_uint32(1, 1);
  const Result<Samples> read = Read(dir.File("a", Zstd(raw.Bytes())));
  REQUIRE(read.ok());
  CHECK(*read == Small());
}

Samples RandomSamples(std::mt19937_64& random, int records) {
  const auto below = [&](uint64_t n) { return random() % n; };
  const auto text = [&](size_t max) {
    std::string result(below(max + 1), '\0');
    for (char& c : result) c = static_cast<char>('a' + below(26));
    return result;
  };
  Samples samples;
  std::map<std::string, SampleProcess> processes;
  for (uint64_t i = below(6) + 1; i > 0; --i) {
    const std::string id = Id(static_cast<int>(random()));
    processes[id] = {id, text(40), {}};
    for (uint64_t j = below(9); j > 0; --j) processes[id].devices.push_back(text(20));
  }
  for (auto& [id, process] : processes) samples.header.processes.push_back(process);
  std::map<std::pair<std::string, std::string>, SampleModule> modules;
  for (uint64_t i = below(9) + 1; i > 0; --i) {
    SampleModule module{text(30), text(2), {}, static_cast<Picoseconds>(below(1ull << 60))};
    for (uint32_t j = 0; j < processes.size(); ++j) {
      if (below(2) == 0) module.processes.push_back(j);
    }
    modules[{module.fingerprint, module.name}] = module;
  }
  for (auto& [key, module] : modules) samples.header.modules.push_back(module);
  for (int i = 0; i < records; ++i) {
    SampleRecord record;
    record.module = static_cast<uint32_t>(below(modules.size()));
    record.name = text(below(50) == 0 ? 3000 : 20);
    if (below(3) == 0) record.op = text(20);
    record.process = static_cast<uint32_t>(below(processes.size()));
    record.device = static_cast<uint32_t>(below(16));
    record.sample_class = static_cast<SampleClass>(below(6));
    record.group_size = static_cast<uint32_t>(below(1000));
    for (uint64_t j = below(below(20) == 0 ? 9000 : 30); j > 0; --j) {
      record.durations.push_back(static_cast<Picoseconds>(random() >> (1 + below(63))));
    }
    samples.records.push_back(std::move(record));
  }
  std::sort(samples.records.begin(), samples.records.end(), ComesBefore);
  const auto same = [](const SampleRecord& a, const SampleRecord& b) { return !ComesBefore(a, b); };
  samples.records.erase(std::unique(samples.records.begin(), samples.records.end(), same),
                        samples.records.end());
  return samples;
}

TEST_CASE("random samples survive") {
  const TempDir dir;
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const Samples samples = RandomSamples(random, i < 50 ? i * 3 : 2000);
    CHECK(*Read(dir.File("a", Zstd(Raw(samples).Bytes()))) == samples);
    if (i % 6 != 0) continue;  // writers sync to disk, which takes its time
    REQUIRE(Write(dir / "b", samples).ok());
    REQUIRE(Write(dir / "c", samples).ok());
    const std::string bytes = Slurp(dir / "b");
    CHECK(bytes == Slurp(dir / "c"));
    const Result<Samples> read = Read(dir / "b");
    REQUIRE(read.ok());
    CHECK(*read == samples);
    for (int j = 0; j < 20; ++j) {
      CHECK_FALSE(Read(dir.File("d", bytes.substr(0, random() % bytes.size()))).ok());
    }
  }
}

TEST_CASE("one record with 100,000 durations between small ones") {
  const TempDir dir;
  Samples samples = Small();
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    samples.records[4].durations.push_back(static_cast<Picoseconds>(random() >> 20));
  }
  REQUIRE(Write(dir / "a", samples).ok());
  const Result<Samples> read = Read(dir / "a");
  REQUIRE(read.ok());
  CHECK(*read == samples);
}

}  // namespace
}  // namespace pgle
