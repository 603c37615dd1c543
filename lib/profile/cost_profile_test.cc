#include "profile/cost_profile.h"

#include <doctest/doctest.h>

#include <limits>

namespace pgle {
namespace {

CostProfile Sample() {
  return {{{"fusion.1", 12.5}, {"fp::copy", 0.1}, {"compare", 0}}};
}

TEST_CASE("both formats give back what was written") {
  for (const ProfileFormat format : {ProfileFormat::kBinary, ProfileFormat::kText}) {
    const auto parsed = ParseProfile(SerializeProfile(Sample(), format), format, "x");
    REQUIRE(parsed.ok());
    CHECK(parsed->costs == Sample().costs);
  }
}

TEST_CASE("jaxlib's own profile is read") {
  const auto profile = ReadProfile(PGLE_TESTDATA "/runs/fsdp_scan/jaxlib_profile.pb");
  REQUIRE(profile.ok());
  CHECK(profile->costs.size() == 158);
}

TEST_CASE("a binary profile cut inside an entry is refused") {
  const std::string bytes = SerializeProfile(Sample(), ProfileFormat::kBinary);
  const auto parsed = ParseProfile(std::string_view(bytes).substr(0, bytes.size() - 3),
                                   ProfileFormat::kBinary, "x");
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().where == "x");
}

TEST_CASE("a message of another kind with the same field numbers is refused") {
  // costs { 1: 7 } and costs { 1: "a" 2: "b" }, as an XSpace and a HloProto begin.
  for (const std::string& bytes :
       {std::string("\x0a\x02\x08\x07"), std::string("\x0a\x06\x0a\x01\x61\x12\x01\x62")}) {
    const auto profile = ParseProfile(bytes, ProfileFormat::kBinary, "x.pb");
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.error().what.find("a field has another type than expected") != std::string::npos);
  }
}

TEST_CASE("text errors name the line") {
  const auto parsed = ParseProfile("costs {\n name: 3 }", ProfileFormat::kText, "x");
  REQUIRE_FALSE(parsed.ok());
  CHECK(parsed.error().what.find("line 2") != std::string::npos);
}

TEST_CASE("costs that are no time are refused") {
  for (const double cost : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    const std::string bytes = SerializeProfile({{{"x", cost}}}, ProfileFormat::kBinary);
    CHECK_FALSE(ParseProfile(bytes, ProfileFormat::kBinary, "x").ok());
  }
}

TEST_CASE("XLA ignores every extension but two") {
  CHECK(ProfileFormatFor("a/b.pb").value() == ProfileFormat::kBinary);
  CHECK(ProfileFormatFor("b.pbtxt").value() == ProfileFormat::kText);
  for (const char* path : {"b.txt", "b", "b.pb.zst", "b.fdo_profile"}) {
    const auto format = ProfileFormatFor(path);
    REQUIRE_FALSE(format.ok());
    CHECK(format.error().code == ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace pgle
