#include "capture/run_name.h"

#include <doctest/doctest.h>

#include "capture/workplace.h"

namespace pgle {
namespace {

const Rank kAlone = {};
const Rank kThird = {3, 8, "SLURM_PROCID", "slurm_12_0"};

TEST_CASE("names that XProf and file systems take") {
  CHECK(CleanName("node-1.example") == "node-1.example");
  CHECK(CleanName("a:b/c d\n") == "a_b_c_d_");
  CHECK(CleanName("..") == "_.");
  CHECK(CleanName("") == "unknown");
}

TEST_CASE("the run's name: asked for, the job's, or the time's") {
  CHECK(*ChooseRunName("mine", kThird, 0) == "mine");
  CHECK(*ChooseRunName("", kThird, 0) == "slurm_12_0");
  CHECK(*ChooseRunName("", kAlone, 86400 * 366) == TimeName(86400 * 366));
  CHECK(TimeName(86400 * 366).size() == 19);
  CHECK(TimeName(86400 * 366).starts_with("1971_01_0"));
  const Rank alone_in_job = {0, 1, "SLURM_PROCID", "slurm_12_0"};
  CHECK(*ChooseRunName("", alone_in_job, 0) == TimeName(0));
}

TEST_CASE("no name for several ranks, and names that are none") {
  const auto none = ChooseRunName("", {3, 0, "RANK", ""}, 0);
  REQUIRE(!none.ok());
  CHECK(none.error().where == "RANK");
  CHECK(none.error().hint == "give --run NAME, the same on all ranks");
  for (const char* bad : {"a/b", "a:b", ".hidden", "two words"}) {
    CHECK(!ChooseRunName(bad, kAlone, 0).ok());
  }
}

TEST_CASE("files' names") {
  CHECK(FileStem("node1", kAlone) == "node1");
  CHECK(FileStem("no:de", kThird) == "no_de_r3");
  CHECK(FileStem("node1", {0, 1, "RANK", ""}) == "node1");
  const Workplace place{"/logs", "run", "/logs/plugins/profile/run", "", "node1_r3"};
  CHECK(place.TraceFile(17, false) == "/logs/plugins/profile/run/node1_r3_p17.xplane.pb");
  CHECK(place.TraceFile(17, true) == "/logs/plugins/profile/run/node1_r3_p17.xplane.pb.zst");
}

TEST_CASE("placeholders") {
  const auto expand = [](const char* path, const Rank& rank) {
    const auto expanded = ExpandPath("--json", path, "no/de", rank, 42);
    return expanded.ok() ? *expanded : "error: " + expanded.error().what;
  };
  CHECK(expand("r%r-%h-%p-100%%.json", kThird) == "r3-no_de-42-100%.json");
  CHECK(expand("%r.json", kAlone) == "0.json");
  CHECK(expand("plain.json", kAlone) == "plain.json");
  CHECK(expand("plain.json", kThird) == "error: all ranks would write plain.json");
  CHECK(expand("100%%.json", kThird) == "error: all ranks would write 100%%.json");
  CHECK(expand("x%", kAlone).starts_with("error: "));
  CHECK(expand("%s", kAlone).starts_with("error: "));
}

TEST_CASE("a private directory tells its place") {
  const auto place = WorkplaceOf("/data/my logs/.pgle-capture/run7/node_r3_p99/");
  REQUIRE(place.ok());
  CHECK(place->log_directory == "/data/my logs");
  CHECK(place->run == "run7");
  CHECK(place->stem == "node_r3");
  CHECK(place->private_directory == "/data/my logs/.pgle-capture/run7/node_r3_p99");
  CHECK(place->run_directory == "/data/my logs/plugins/profile/run7");
  for (const char* other :
       {"/data/logs/run7/node_p99", "/logs/.pgle-capture/run7/node",
        "/logs/.pgle-capture/run7/node_p", "/logs/.pgle-capture/run7/node_p9x", "/"}) {
    CHECK(!WorkplaceOf(other).ok());
  }
}

}  // namespace
}  // namespace pgle
