#include "merge/input_list.h"

#include <doctest/doctest.h>

#include "base/test_support.h"

namespace pgle {
namespace {

using Files = std::vector<std::string>;

Result<InputList> Resolve(const std::vector<std::string>& arguments, bool nul = false) {
  return ResolveMergeInputs(arguments, nul, "/tmp");
}

TEST_CASE("kinds are told by name") {
  for (const char* path : {"a.pb", "a.pbtxt", "a.pb.zst", "a.pbtxt.gz"}) {
    CHECK(InputKindOf(path) == InputKind::kProfiles);
  }
  for (const char* path : {"a.samples", "a.samples.zst", "a"}) {
    CHECK(InputKindOf(path) == InputKind::kSamples);
  }
}

TEST_CASE("lists hold a name a line, or end them with NUL") {
  const TempDir dir;
  const std::string lines = dir.File("lines", "a.pb\n\nb c.pb\r\n@d.pb");
  CHECK(Resolve({"x.pb", "@" + lines})->files == Files{"x.pb", "a.pb", "b c.pb", "@d.pb"});
  const std::string nul = dir.File("nul", std::string("a\nb.pb\0c.pb\0", 12));
  CHECK(Resolve({"@" + nul}, true)->files == Files{"a\nb.pb", "c.pb"});
  const auto wrong = Resolve({"@" + nul});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().hint.find("-0") != std::string::npos);
  CHECK_FALSE(Resolve({"@" + dir.File("empty", "\n")}).ok());
  CHECK_FALSE(Resolve({"@" + (dir.path / "missing").string()}).ok());
}

TEST_CASE("a directory gives its profiles or sample files, by name, and nothing else") {
  const TempDir dir;
  for (const char* name : {"p/b.pb", "p/a.pbtxt.zst", "p/x.xplane.pb", "p/m.hlo.pb.zst", "p/.h.pb",
                           "p/notes.txt", "p/deeper/c.pb", "s/h.samples", "s/g.samples.zst",
                           "both/a.pb", "both/a.samples", "none/x"}) {
    dir.File(name, "");
  }
  const std::string root = dir.path.string();
  CHECK(Resolve({root + "/p"})->files == Files{root + "/p/a.pbtxt.zst", root + "/p/b.pb"});
  CHECK(Resolve({root + "/s"})->kind == InputKind::kSamples);
  CHECK(Resolve({root + "/s"})->files.size() == 2);
  CHECK_FALSE(Resolve({root + "/none"}).ok());
  const auto both = Resolve({root + "/both"});
  REQUIRE_FALSE(both.ok());
  CHECK(both.error().code == ErrorCode::kUsage);
}

TEST_CASE("an output among the inputs is found under any name") {
  const TempDir dir;
  const std::string file = dir.File("d/a.pb", "x");
  const std::string other_name = (dir.path / "d/../d/a.pb").string();
  CHECK(FindOutputAmong({"no.pb", other_name}, file) == other_name);
  CHECK(FindOutputAmong({file}, (dir.path / "new.pb").string()).empty());
  CHECK(FindOutputAmong({file}, "-").empty());
}

}  // namespace
}  // namespace pgle
