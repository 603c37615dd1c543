#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>

#include "base/test_support.h"
#include "io/input.h"
#include "io/output.h"
#include "io/output_set.h"
#include "io/packed_file.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

std::string Zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string Gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string LongText() {
  std::string text;
  for (int64_t i = 0; i < 400'000; ++i) text += std::to_string(i * 7919 % 100'003);
  return text;
}

TEST_CASE("plain, zstd and gzip files give the same bytes, whatever they are called") {
  const TempDir dir;
  const std::string text = LongText();
  for (const std::string& content :
       {text, Zstd(text), Gzip(text), Zstd(text.substr(0, 1000)) + Zstd(text.substr(1000)),
        Gzip(text.substr(0, 1000)) + Gzip(text.substr(1000))}) {
    const Result<Input> input = Input::Open(dir.File("any.name", content), dir.path);
    REQUIRE(input.ok());
    CHECK(input->bytes() == text);
  }
}

TEST_CASE("an empty file is an input of no bytes") {
  const TempDir dir;
  const Result<Input> input = Input::Open(dir.File("empty", ""), dir.path);
  REQUIRE(input.ok());
  CHECK(input->bytes().empty());
}

TEST_CASE("cut and damaged streams are refused, with the file named") {
  const TempDir dir;
  const std::string text = LongText();
  for (std::string content : {Zstd(text), Gzip(text)}) {
    const std::string cut = dir.File("cut", content.substr(0, content.size() / 2));
    const Result<Input> truncated = Input::Open(cut, dir.path);
    REQUIRE_FALSE(truncated.ok());
    CHECK(truncated.error().where == cut);
    content[content.size() / 2] ^= 0x55;
    content[content.size() / 2 + 1] ^= 0x55;
    CHECK_FALSE(Input::Open(dir.File("bad", content), dir.path).ok());
  }
  CHECK_FALSE(Input::Open((dir.path / "missing").string(), dir.path).ok());
  CHECK_FALSE(Input::Open(dir.path.string(), dir.path).ok());
}

TEST_CASE("released pages read the same again") {
  const TempDir dir;
  const std::string text = LongText();
  const Result<Input> input = Input::Open(dir.File("plain", text), dir.path);
  REQUIRE(input.ok());
  CHECK(input->bytes() == text);
  input->Release(0, text.size());
  CHECK(input->bytes() == text);
}

TEST_CASE("output appears whole or not at all") {
  const TempDir dir;
  const std::string target = dir.File("out.pb", "old");
  {
    Result<AtomicFile> file = AtomicFile::Create(target);
    REQUIRE(file.ok());
    REQUIRE(file->Write("half").ok());
  }
  CHECK(Input::Open(target, dir.path)->bytes() == "old");
  REQUIRE(WriteFileAtomically(target, "new").ok());
  CHECK(Input::Open(target, dir.path)->bytes() == "new");
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(dir.path)) ++files;
  CHECK(files == 1);
  CHECK_FALSE(WriteFileAtomically((dir.path / "no/such/file").string(), "x").ok());
}

TEST_CASE("several outputs appear together") {
  const TempDir dir;
  const std::string first = dir.path / "first", second = dir.path / "second";
  OutputSet outputs;
  REQUIRE(outputs.Stage(first, "1").ok());
  REQUIRE(outputs.Stage(second, "2").ok());
  CHECK_FALSE(fs::exists(first));
  CHECK_FALSE(outputs.Stage(dir.path / "no/such/file", "3").ok());
  REQUIRE(outputs.Commit().ok());
  CHECK(Input::Open(first, dir.path)->bytes() == "1");
  CHECK(Input::Open(second, dir.path)->bytes() == "2");
}

TEST_CASE("an output that is an input or another output is a wrong call") {
  const TempDir dir;
  const std::string trace = dir.File("trace", "x");
  fs::create_symlink(trace, dir.path / "link");
  CHECK(CheckOutputs({"a", "", "", "-"}, {trace, "-"}).ok());
  for (const std::string& output : {trace, (dir.path / "link").string()}) {
    const Status status = CheckOutputs({output}, {trace});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == ErrorCode::kUsage);
  }
  CHECK_FALSE(CheckOutputs({"a", "./a"}, {}).ok());
  CHECK_FALSE(CheckOutputs({"-", "-"}, {}).ok());
}

TEST_CASE("depfile names are escaped") {
  CHECK(FormatDepfile("a b", {"c$d", "e"}) == "a\\ b: \\\n  c$$d \\\n  e\n");
}

TEST_CASE("A packed file is the plain one, and is not there before it is committed") {
  const TempDir dir;
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += std::to_string(i * 7919 % 10'007);
  for (const int level : {0, 3}) {
    const std::string path = dir.path / ("packed" + std::to_string(level));
    Result<PackedFile> file = PackedFile::Create(path, level);
    REQUIRE(file.ok());
    for (size_t at = 0; at < content.size(); at += 1000) {
      REQUIRE(file->Write(std::string_view(content).substr(at, 1000)).ok());
    }
    CHECK_FALSE(std::filesystem::exists(path));
    REQUIRE(file->Commit().ok());
    CHECK(file->size() == std::filesystem::file_size(path));
    CHECK((file->size() < content.size()) == (level > 0));
    const Result<Input> input = Input::Open(path);
    REQUIRE(input.ok());
    CHECK(input->bytes() == content);
  }
  CHECK_FALSE(PackedFile::Create(dir.path / "absent" / "file", 3).ok());
}

}  // namespace
}  // namespace pgle
