#include "merge/drift.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

TEST_CASE("processes on each side are named") {
  const DriftReport report = FindDrift({{"jit_step", "host0", {"f"}},
                                        {"jit_step", "host1", {"g"}},
                                        {"jit_step", "host2", {"f"}},
                                        {"jit_init", "host0", {"i"}},
                                        {"jit_init", "host1", {"i"}}});
  REQUIRE(report.modules.size() == 1);
  const ModuleDrift& drift = report.modules[0];
  CHECK(drift.module == "jit_step");
  CHECK(IsRefusable(drift));
  CHECK(Describe(drift, 9) == "f in host0, host2; g in host1");
  CHECK(Describe(drift, 1) == "f in host0 and 1 more; g in host1");
  CHECK(OddFingerprints(drift) == std::pair<std::string, std::string>("f", "g"));
  CHECK(report.checked == 3);
  CHECK(report.unchecked == 0);
}

TEST_CASE("several versions that all have alike are no drift") {
  CHECK(FindDrift({{"m", "a", {"f", "g"}}, {"m", "b", {"f", "g"}}}).modules.empty());
  CHECK(FindDrift({{"", "a.pb", {"f", "g"}}, {"", "b.pb", {"f", "g"}}}).modules.empty());
}

TEST_CASE("a version more is drift of a module, but not of a profile that names none") {
  const DriftReport module = FindDrift({{"m", "a", {"f", "g"}}, {"m", "b", {"f"}}});
  REQUIRE(module.modules.size() == 1);
  CHECK(IsRefusable(module.modules[0]));
  const DriftReport profile = FindDrift({{"", "a", {"f", "g"}}, {"", "b", {"f"}}});
  REQUIRE(profile.modules.size() == 1);
  CHECK_FALSE(IsRefusable(profile.modules[0]));
  const DriftReport both =
      FindDrift({{"", "a", {"f", "g"}}, {"", "b", {"f", "h"}}, {"", "c", {"f"}}});
  REQUIRE(both.modules.size() == 1);
  CHECK(IsRefusable(both.modules[0]));
}

TEST_CASE("without fingerprints nothing is checked, and a module that one process ran is none") {
  const DriftReport report =
      FindDrift({{"m", "a", {}}, {"m", "b", {}}, {"m", "c", {"f"}}, {"n", "c", {"g"}}});
  CHECK(report.modules.empty());
  CHECK(report.checked == 1);
  CHECK(report.unchecked == 2);
}

}  // namespace
}  // namespace pgle
