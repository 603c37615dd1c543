#include "profile/per_module.h"

#include <doctest/doctest.h>

#include "base/test_support.h"

namespace pgle {
namespace {

TEST_CASE("one file a fingerprint") {
  const TempDir dir;
  const std::string target = (dir.path / "new/dir").string();
  const std::vector<ModuleProfile> modules = {{"ab12", {{{"ab12::x", 1}}}},
                                              {"cd34", {{{"cd34::x", 2}}}}};
  const auto plan = PlanModuleFiles(target, modules);
  REQUIRE(plan.ok());
  CHECK(*plan == std::vector<std::string>{target + "/ab12.pb", target + "/cd34.pb"});
  OutputSet outputs;
  REQUIRE(StageModuleFiles(target, modules, &outputs).ok());
  CHECK_FALSE(std::filesystem::exists(target + "/ab12.pb"));
  REQUIRE(outputs.Commit().ok());
  CHECK(ReadProfile(target + "/cd34.pb")->costs == modules[1].profile.costs);
}

TEST_CASE("a text profile that would shadow the new one is refused") {
  const TempDir dir;
  dir.File("ab12.pbtxt", "");
  const auto plan = PlanModuleFiles(dir.path, {{"ab12", {}}});
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().code == ErrorCode::kRefused);
}

TEST_CASE("a fingerprint cannot lead out of the directory") {
  for (const char* fingerprint : {"../x", "a/b", "", "."}) {
    CHECK_FALSE(PlanModuleFiles("d", {{fingerprint, {}}}).ok());
  }
  CHECK_FALSE(PlanModuleFiles("d", {}).ok());
}

}  // namespace
}  // namespace pgle
