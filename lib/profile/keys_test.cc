#include "profile/keys.h"

#include <doctest/doctest.h>

#include "profile/remat.h"

namespace pgle {
namespace {

using Costs = std::vector<InstructionCost>;

ModuleCosts Module(std::string name, std::string fingerprint, Picoseconds busy,
                   std::vector<std::pair<std::string, double>> costs) {
  ModuleCosts module{std::move(name), std::move(fingerprint), busy, {}};
  for (auto& [cost_name, cost] : costs) {
    module.costs.push_back({cost_name, cost, CostSource::kMeasured});
  }
  return module;
}

Costs Assemble(std::vector<ModuleCosts> modules, KeyMode mode, KeyMode* decided = nullptr) {
  Diagnostics diagnostics;
  auto keyed = AssembleProfile(std::move(modules), mode, &diagnostics);
  REQUIRE(keyed.ok());
  if (decided != nullptr) *decided = keyed->mode;
  return keyed->profile.costs;
}

TEST_CASE("one module with 99 % of the time: bare first, then qualified, so that the last wins") {
  KeyMode decided;
  CHECK(Assemble({Module("small", "f2", 1, {{"a", 9}}), Module("step", "f1", 99, {{"a", 1}})},
                 KeyMode::kAuto, &decided) == Costs{{"a", 1}, {"f1::a", 1}, {"f2::a", 9}});
  CHECK(decided == KeyMode::kBoth);
}

TEST_CASE("several modules: qualified only") {
  KeyMode decided;
  CHECK(Assemble({Module("eval", "f2", 2, {{"a", 9}}), Module("train", "f1", 98, {{"a", 1}})},
                 KeyMode::kAuto, &decided) == Costs{{"f1::a", 1}, {"f2::a", 9}});
  CHECK(decided == KeyMode::kQualified);
}

TEST_CASE("without fingerprints: bare, and the larger module keeps a shared name") {
  KeyMode decided;
  CHECK(Assemble({Module("eval", "", 2, {{"a", 9}, {"b", 8}}), Module("train", "", 3, {{"a", 1}})},
                 KeyMode::kAuto, &decided) == Costs{{"a", 1}, {"b", 8}});
  CHECK(decided == KeyMode::kBare);
  Diagnostics diagnostics;
  CHECK_FALSE(
      AssembleProfile({Module("train", "", 3, {{"a", 1}})}, KeyMode::kQualified, &diagnostics)
          .ok());
}

TEST_CASE("a .remat name: qualified only, and stripping one suffix leaves it") {
  KeyMode decided;
  CHECK(Assemble({Module("step", "f", 1, {{"a", 1}, {"a.remat2", 2}, {"a.remat2.1", 3}})},
                 KeyMode::kAuto,
                 &decided) == Costs{{"f::a", 1}, {"f::a.remat2.remat", 2}, {"f::a.remat2.1", 3}});
  CHECK(decided == KeyMode::kQualified);
  CHECK(RematSuffix("fusion.remat12") == ".remat12");
  CHECK(RematSuffix("fusion.remat") == ".remat");
  CHECK(RematSuffix("fusion.rematerialize") == "");
  CHECK(RematSuffix("fusion") == "");
}

TEST_CASE("names with '::' can never be looked up and are not written") {
  CHECK(Assemble({Module("step", "f", 1, {{"a::b", 1}, {"c", 2}})}, KeyMode::kBoth) ==
        Costs{{"c", 2}, {"f::c", 2}});
}

TEST_CASE("nothing to write is an error") {
  Diagnostics diagnostics;
  CHECK_FALSE(AssembleProfile({}, KeyMode::kAuto, &diagnostics).ok());
  CHECK_FALSE(AssembleProfile({Module("m", "f", 1, {})}, KeyMode::kAuto, &diagnostics).ok());
}

TEST_CASE("a mode is found by its name") {
  for (const KeyMode mode : {KeyMode::kAuto, KeyMode::kBoth, KeyMode::kBare, KeyMode::kQualified}) {
    CHECK(KeyModeNamed(ToString(mode)) == mode);
  }
}

}  // namespace
}  // namespace pgle
