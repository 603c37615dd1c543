#include "capture/xla_dump_flags.h"

#include <doctest/doctest.h>

#include "base/test_support.h"
#include "inspect/xla_flags.h"

namespace pgle {
namespace {

constexpr const char* kProto = "--xla_dump_hlo_as_proto";

struct Edited {
  XlaFlagsEdit edit;
  Diagnostics diagnostics;
  // As XLA would read it.
  XlaFlags flags;
};

Edited Edit(const std::string& current, const XlaFlagsWanted& wanted = {"/logs/hlo", ""}) {
  Edited result;
  result.edit = EditXlaFlags(current, wanted, &result.diagnostics);
  result.flags = ParseXlaFlags(result.edit.value.value_or(current));
  return result;
}

TEST_CASE("no flags of the user") {
  for (const char* none : {"", "  "}) {
    const Edited edited = Edit(none);
    CHECK(*edited.flags.Find("xla_dump_to")->value == "/logs/hlo");
    CHECK(edited.flags.Find("xla_dump_hlo_as_proto") != nullptr);
    CHECK(edited.flags.Find("xla_dump_hlo_as_text") == nullptr);
    CHECK(edited.edit.hlo_folder == "/logs/hlo");
    CHECK(edited.diagnostics.items().empty());
  }
  CHECK(*Edit("").edit.value == std::string("--xla_dump_to=/logs/hlo ") + kProto);
  CHECK(!Edit("--xla_a", {"", ""}).edit.value);
}

TEST_CASE("the user's flags stay, in front") {
  const Edited edited = Edit("--xla_a='x y' --xla_b");
  CHECK(*edited.edit.value ==
        "--xla_a='x y' --xla_b --xla_dump_to=/logs/hlo --xla_dump_hlo_as_proto");
  CHECK(*edited.flags.Find("xla_a")->value == "x y");
}

TEST_CASE("paths that need quotes") {
  for (const char* path : {"/my logs/hlo", "/a\"b", "/a'b c", "/a\\b"}) {
    const Edited edited = Edit("--xla_a", {path, ""});
    CHECK(*edited.flags.Find("xla_dump_to")->value == path);
    CHECK(edited.flags.Find("xla_dump_hlo_as_proto") != nullptr);
  }
}

TEST_CASE("the user dumps already: only what is missing") {
  CHECK(!Edit("--xla_dump_to=/u --xla_dump_hlo_as_proto").edit.value);
  CHECK(!Edit("--xla_dump_to=/u --xla_dump_hlo_as_proto=true").edit.value);
  const Edited text = Edit("--xla_dump_to=/u --xla_dump_hlo_as_text");
  CHECK(*text.edit.value == std::string("--xla_dump_to=/u --xla_dump_hlo_as_text ") + kProto);
  CHECK(text.edit.hlo_folder == "/u");
  // Without a form he would get text; he still does.
  const Edited plain = Edit("--xla_dump_to=/u");
  CHECK(*plain.edit.value == std::string("--xla_dump_to=/u --xla_dump_hlo_as_text ") + kProto);
  CHECK(*Edit("--xla_dump_to=/u --xla_dump_hlo_as_proto=false").flags.Find("xla_dump_to")->value ==
        "/u");
  CHECK(Edit("--xla_dump_to=/u --xla_dump_hlo_as_proto=false").edit.value);
  CHECK(*Edit("--xla_dump_to=").flags.Find("xla_dump_to")->value == "/logs/hlo");
  CHECK(Edit("--xla_dump_to=sub").edit.hlo_folder.starts_with("/"));
  const Edited standard_output = Edit("--xla_dump_to=-");
  CHECK(!standard_output.edit.value);
  CHECK(standard_output.edit.hlo_folder == "");
  CHECK(standard_output.diagnostics.items().size() == 1);
}

TEST_CASE("where XLA stops reading, ours go in front") {
  for (const char* cut : {"--xla_a=1 stray --xla_b=2", "--xla_a=1 --xla_b=\"open"}) {
    const Edited edited = Edit(cut);
    CHECK(edited.edit.value->starts_with("--xla_dump_to=/logs/hlo "));
    CHECK(edited.edit.value->ends_with(cut));
    CHECK(*edited.flags.Find("xla_dump_to")->value == "/logs/hlo");
    CHECK(*edited.flags.Find("xla_a")->value == "1");
    REQUIRE(edited.diagnostics.items().size() == 1);
    CHECK(edited.diagnostics.items()[0].where == "XLA_FLAGS");
  }
}

TEST_CASE("a file of flags becomes its content") {
  const TempDir directory;
  const std::string file = directory.File("flags", "--xla_a=1\n--xla_b=2\n");
  const Edited edited = Edit(file);
  CHECK(*edited.flags.Find("xla_a")->value == "1");
  CHECK(*edited.flags.Find("xla_b")->value == "2");
  CHECK(*edited.flags.Find("xla_dump_to")->value == "/logs/hlo");
  const Edited missing = Edit("/no/such/file");
  CHECK(!missing.edit.value);
  CHECK(missing.diagnostics.items().size() == 1);
}

TEST_CASE("the autotuner's choices") {
  const Edited edited = Edit("--xla_a", {"", "/pin/a.pbtxt"});
  CHECK(*edited.edit.value == "--xla_a --xla_gpu_dump_autotune_results_to=/pin/a.pbtxt");
  CHECK(edited.edit.autotune_file == "/pin/a.pbtxt");
  const Edited own = Edit("--xla_gpu_dump_autotune_results_to=/u.pb", {"", "/pin/a.pbtxt"});
  CHECK(!own.edit.value);
  CHECK(own.edit.autotune_file == "/u.pb");
}

}  // namespace
}  // namespace pgle
