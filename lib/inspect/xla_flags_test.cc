#include "inspect/xla_flags.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace pgle {
namespace {

std::string ValueOf(const char* text, const char* name = "xla_a") {
  const XlaFlags flags = ParseXlaFlags(text);
  const XlaFlag* flag = flags.Find(name);
  return flag == nullptr ? "(none)" : flag->value.value_or("(alone)");
}

}  // namespace

TEST_CASE("flags as XLA parses them") {
  CHECK(ValueOf("--xla_a=1") == "1");
  CHECK(ValueOf(" \t\r\n--xla_a=1  --xla_b=2\n") == "1");
  CHECK(ValueOf("--xla_a") == "(alone)");
  CHECK(ValueOf("--xla_a=") == "");
  CHECK(ValueOf("--xla_a=1 --xla_a=2") == "2");
  CHECK(ValueOf("--xla_a=b=c") == "b=c");
  CHECK(ValueOf("-xla_a=1") == "(none)");
  CHECK(ValueOf("") == "(none)");
}

TEST_CASE("quotes") {
  CHECK(ValueOf("--xla_a='x y' --xla_b=2", "xla_b") == "2");
  CHECK(ValueOf("--xla_a='x y'") == "x y");
  CHECK(ValueOf("--xla_a=\"x \\\"y\\\\\"") == "x \"y\\");
  CHECK(ValueOf("--xla_a='x\\y'") == "x\\y");  // literal within single quotes
  CHECK(ValueOf("--xla_a=x'y z'") == "x'y");   // a quote counts right behind '=' only
  CHECK(ParseXlaFlags("--xla_a='x y").unclosed_quote);
  CHECK(ParseXlaFlags("--xla_a='x'y --xla_b=1").stopped_at == "y");
  CHECK(ValueOf("--xla_a='x'--xla_b=1", "xla_b") == "1");
}

TEST_CASE("XLA stops at the first token that is no flag") {
  const XlaFlags flags = ParseXlaFlags("--xla_a=1 \\ --xla_b=2 --xla_c=3 ");
  CHECK(flags.flags.size() == 1);
  CHECK(flags.stopped_at == "\\");
  CHECK(flags.dropped == "\\ --xla_b=2 --xla_c=3");
  CHECK(ParseXlaFlags("--xla_a /p.pb --xla_b=1").dropped == "/p.pb --xla_b=1");
  CHECK(ParseXlaFlags("--xla_a=1 --xla_b=2").dropped.empty());
}

TEST_CASE("a value that names a file") {
  const auto path = std::filesystem::temp_directory_path() / "pgle_xla_flags_test.txt";
  std::ofstream(path) << "--xla_a=1\n--xla_b=2 stop --xla_c=3\n";
  const auto flags = ReadXlaFlags(path.string());
  REQUIRE(flags.ok());
  CHECK(flags->file == path.string());
  CHECK(flags->flags.size() == 2);
  CHECK(flags->dropped == "stop --xla_c=3");
  std::filesystem::remove(path);
  CHECK(!ReadXlaFlags(path.string()).ok());
  CHECK(ReadXlaFlags("").ok());
  CHECK(ReadXlaFlags("  --xla_a=1")->file.empty());
}

}  // namespace pgle
