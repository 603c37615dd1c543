#include "trace/run_directory.h"

#include <doctest/doctest.h>

#include "base/test_support.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Names(const Result<std::vector<std::string>>& files) {
  REQUIRE(files.ok());
  std::vector<std::string> names;
  for (const std::string& file : *files) {
    names.push_back(fs::path(file).parent_path().filename() / fs::path(file).filename());
  }
  return names;
}

TEST_CASE("the newest run of a log directory, and a note that says which") {
  const TempDir dir;
  const std::string profiles = "plugins/profile/";
  dir.File(profiles + "2026_11_30_09_00_00/b.xplane.pb", "");
  dir.File(profiles + "2026_11_30_10_00_00/b.xplane.pb.zst", "");
  dir.File(profiles + "2026_11_30_10_00_00/a.xplane.pb.gz", "");
  dir.File(profiles + "2026_11_30_10_00_00/a.trace.json.gz", "");
  dir.File(profiles + "2026_11_30_11_00_00/only.trace.json.gz", "");  // no trace in it
  Diagnostics diagnostics;
  CHECK(Names(FindTraceFiles(dir.path, "", &diagnostics)) ==
        std::vector<std::string>{"2026_11_30_10_00_00/a.xplane.pb.gz",
                                 "2026_11_30_10_00_00/b.xplane.pb.zst"});
  REQUIRE(diagnostics.items().size() == 1);
  CHECK(diagnostics.items()[0].what.find("2026_11_30_10_00_00") != std::string::npos);
  CHECK(Names(FindTraceFiles(dir.path, "2026_11_30_09_00_00", &diagnostics)).size() == 1);
  CHECK(Names(FindTraceFiles(dir.path / profiles, "", &diagnostics)).size() == 2);
  CHECK(Names(FindTraceFiles(dir.path / profiles / "2026_11_30_09_00_00", "", &diagnostics)) ==
        std::vector<std::string>{"2026_11_30_09_00_00/b.xplane.pb"});
}

TEST_CASE("runs with names of their own are ordered by time") {
  const TempDir dir;
  const std::string old_run = dir.File("plugins/profile/zzz/h.xplane.pb", "");
  dir.File("plugins/profile/aaa/h.xplane.pb", "");
  fs::last_write_time(old_run, fs::last_write_time(old_run) - std::chrono::hours(1));
  Diagnostics diagnostics;
  CHECK(Names(FindTraceFiles(dir.path, "", &diagnostics)) ==
        std::vector<std::string>{"aaa/h.xplane.pb"});
}

TEST_CASE("what is not there is said") {
  const TempDir dir;
  Diagnostics diagnostics;
  CHECK_FALSE(FindTraceFiles(dir.path / "no", "", &diagnostics).ok());
  CHECK_FALSE(FindTraceFiles(dir.path, "", &diagnostics).ok());
  dir.File("plugins/profile/one/h.xplane.pb", "");
  const auto unknown = FindTraceFiles(dir.path, "two", &diagnostics);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().hint.find("one") != std::string::npos);
  CHECK(FindTraceFiles("-", "", &diagnostics).value() == std::vector<std::string>{"-"});
}

}  // namespace
}  // namespace pgle
