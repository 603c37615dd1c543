#include "merge/hlo_difference.h"

#include <doctest/doctest.h>

#include <filesystem>

namespace pgle {
namespace {

const std::string kRuns = PGLE_TESTDATA "/runs/";

TEST_CASE("two ranks' compiles of one program are equal, another autotuner's is not") {
  const std::string drift = kRuns + "autotune_drift/hlo/";
  const std::string two = kRuns + "two_process/hlo/";
  const auto modules =
      FindModules({two + "host0", drift + "profiled", drift + "recompiled"}, {}, "/tmp");
  REQUIRE(modules.ok());
  CHECK(modules->empty());  // none of the fingerprints was asked for
  CHECK_FALSE(FindModules({kRuns + "no_such"}, {}, "/tmp").ok());
  CHECK_FALSE(FindModules({kRuns + "aggregate"}, {}, "/tmp").ok());
}

TEST_CASE("what is no HLO is refused") {
  CHECK_FALSE(DigestHlo("\x0a\x05garbage", "x").ok());
}

TEST_CASE("differences are those of either side, by name") {
  const ModuleDigest a{"m", "f", {{"gone", 1}, {"same", 2}, {"tiled", 3}}};
  const ModuleDigest b{"m", "g", {{"new", 1}, {"same", 2}, {"tiled", 4}}};
  CHECK(DifferingInstructions(a, b) == std::vector<std::string>{"gone", "new", "tiled"});
  CHECK(DifferingInstructions(a, a).empty());
}

}  // namespace
}  // namespace pgle
