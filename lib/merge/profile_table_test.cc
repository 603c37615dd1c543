#include "merge/profile_table.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

TEST_CASE("percentiles are jaxlib's: truncated index, no interpolation") {
  const std::vector<double> costs = {3, 1, 2};
  const auto at = [&](double percentile) {
    std::vector<double> copy = costs;
    return JaxlibPercentile(copy, percentile);
  };
  CHECK(at(0) == 1);
  CHECK(at(49) == 1);
  CHECK(at(50) == 2);
  CHECK(at(90) == 2);  // int(0.9 * 2) = 1: the median of three
  CHECK(at(100) == 3);
  std::vector<double> one = {7};
  CHECK(JaxlibPercentile(one, 100) == 7);
}

TEST_CASE("keys split where XLA splits them") {
  std::string_view fingerprint, name;
  REQUIRE(SplitKey("f::a", &fingerprint, &name));
  CHECK(fingerprint == "f");
  CHECK(name == "a");
  for (const char* key : {"a", "f::a::b", "::a", "f::", "a:b"}) {
    CHECK_FALSE(SplitKey(key, &fingerprint, &name));
  }
}

TEST_CASE("collectives are told by the form of their names") {
  for (const char* name : {"all-gather-start.3", "f::all-reduce.1", "all-reduce.5.0-fusion",
                           "reduce-scatter", "send.2", "collective-permute-start"}) {
    CHECK_MESSAGE(IsCollectiveName(name), name);
  }
  for (const char* name : {"fusion.1", "all-gather-done.3", "loop_all-reduce_fusion", "sender.1"}) {
    CHECK_FALSE_MESSAGE(IsCollectiveName(name), name);
  }
}

TEST_CASE("a profile's duplicates come with the value that XLA uses") {
  ProfileTable table;
  const ProfileFacts last = table.Add(0, {{{"a", 1}, {"b", 5}, {"a", 4}}});
  REQUIRE(last.duplicates.size() == 1);
  CHECK(last.duplicates[0].name == "a");
  CHECK(last.duplicates[0].count == 2);
  CHECK(last.duplicates[0].xla_us == 4);
  CHECK_FALSE(last.averages);
  // With a .remat name all equal stripped names are averaged, those of other modules left out.
  const ProfileFacts averaged =
      table.Add(1, {{{"a", 1}, {"a", 4}, {"a.remat2", 7}, {"f::a", 100}}});
  CHECK(averaged.averages);
  REQUIRE(averaged.duplicates.size() == 1);
  CHECK(averaged.duplicates[0].xla_us == 4);
}

TEST_CASE("bare names are matched with their qualified twins") {
  ProfileTable table;
  const ProfileFacts facts = table.Add(0, {{{"a", 1}, {"b", 2}, {"f::a", 1}, {"g::a", 3}}});
  CHECK(facts.fingerprints == std::vector<std::string>{"f", "g"});
  CHECK(facts.lone_bare == std::vector<std::string>{"b"});
  CHECK(facts.qualified == 2);
  // jaxlib's profiles are bare throughout: no twin is missed there.
  CHECK(table.Add(1, {{{"a", 1}}}).lone_bare.empty());
  CHECK(table.Add(2, {{{"f::a::b", 1}}}).never_used == 1);
}

TEST_CASE("a bare name taken from two modules is known to be") {
  ProfileTable table;
  table.Add(0, {{{"a", 1}, {"f::a", 1}}});
  ProfileTable other;
  other.Add(1, {{{"a", 2}, {"g::a", 2}, {"f::a", 1}}});
  table.Absorb(std::move(other));
  for (const uint32_t index : table.SortedNames()) {
    const ProfileTable::Name& name = table.name(index);
    if (name.key != "a") continue;
    REQUIRE(name.origins.size() == 2);
    CHECK(name.inputs == 2);
    CHECK(name.min_us == 1);
    CHECK(name.max_us == 2);
    CHECK(name.max_input == 1);
  }
  CHECK(table.NamesUnder("g") == std::vector<std::string>{"a"});
}

TEST_CASE("names sort with the bare ones first") {
  ProfileTable table;
  table.Add(0, {{{"z", 1}, {"a::z", 1}, {"b", 1}}});
  std::vector<std::string_view> keys;
  for (const uint32_t index : table.SortedNames()) keys.push_back(table.name(index).key);
  CHECK(keys == std::vector<std::string_view>{"b", "z", "a::z"});
}

}  // namespace
}  // namespace pgle
