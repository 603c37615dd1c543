#include "extract/statistic.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

double Of(const char* name, std::vector<Picoseconds> samples) {
  const auto statistic = Statistic::Parse(name);
  REQUIRE(statistic.ok());
  return statistic->Of(samples);
}

TEST_CASE("nearest rank: sorted index ceil(P/100*n)-1") {
  const std::vector<Picoseconds> six = {6'000'000, 1'000'000, 5'000'000,
                                        2'000'000, 4'000'000, 3'000'000};
  CHECK(Of("median", six) == 3);
  CHECK(Of("p50", six) == 3);
  CHECK(Of("p0", six) == 1);
  CHECK(Of("p1", six) == 1);
  CHECK(Of("p90", six) == 6);
  CHECK(Of("p83.3", six) == 5);
  CHECK(Of("p100", six) == 6);
  CHECK(Of("min", six) == 1);
  CHECK(Of("max", six) == 6);
  CHECK(Of("mean", six) == 3.5);
  CHECK(Of("median", {7}) == 7e-6);
}

TEST_CASE("the mean is divided once, from an integer sum") {
  CHECK(Of("mean", {1, 1, 2}) == 4.0 / (1e6 * 3));
}

TEST_CASE("what is no statistic is refused as a wrong call") {
  for (const char* name : {"", "p", "p101", "p-1", "p5x", "average", "p1e"}) {
    const auto statistic = Statistic::Parse(name);
    REQUIRE_FALSE(statistic.ok());
    CHECK(statistic.error().code == ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace pgle
