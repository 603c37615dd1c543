#include "inspect/fdo.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "inspect/dump_files.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

const std::string kDump = PGLE_TESTDATA "/runs/auto_pgle/dump";

// A folder that is gone when the test is.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("pgle_fdo_test.{}", getpid())) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name) << bytes;
  }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

const std::string kProfile =
    SerializeProfile({{{"fusion.1", 2}, {"copy.1", 1}}}, ProfileFormat::kBinary);

TEST_CASE("names of dump files") {
  const Folder folder;
  for (const char* name :
       {"module_0012.jit_f.sm_9.0a_gpu_after_optimizations.x",
        "module_0003.jit_f.before_optimizations.x",
        "1700000000.module_0007.jit_g.h.gfx942_gpu_after_optimizations.x.zst",
        "module_0009.sm_9.0_gpu_after_optimizations.x", "module_a.jit_f.before_optimizations.x",
        "module_0001.jit_f.y", "other.x"}) {
    folder.Write(name, "");
  }
  const auto files = FindDumpFiles(folder.path(), ".x");
  REQUIRE(files.ok());
  REQUIRE(files->size() == 4);
  CHECK((*files)[0].id == 3);
  CHECK((*files)[0].module == "jit_f");
  CHECK((*files)[0].point == "before_optimizations");
  CHECK((*files)[1].module == "jit_g.h");
  CHECK((*files)[1].point == "gfx942_gpu_after_optimizations");
  CHECK((*files)[2].module == "");
  CHECK((*files)[2].point == "sm_9.0_gpu_after_optimizations");
  CHECK((*files)[3].module == "jit_f");
  CHECK((*files)[3].point == "sm_9.0a_gpu_after_optimizations");
}

TEST_CASE("AutoPGLE: the first compile empty, the recompile filled") {
  const auto compiles = ReadFdoProfiles(kDump, nullptr, "/tmp");
  REQUIRE(compiles.ok());
  REQUIRE(compiles->size() == 2);
  const FdoCompile& first = compiles->front();
  const FdoCompile& second = compiles->back();
  CHECK(first.id == 2667);
  CHECK(first.is_empty());
  CHECK(first.points.size() == 4);
  CHECK(first.is_equal);
  CHECK(second.module == "jit_train_step");
  CHECK(second.profile.costs.size() == 264);
  CHECK(second.is_equal);
  REQUIRE(second.change.has_value());
  CHECK(second.change->only_in_b.size() == 264);
  CHECK_FALSE(second.against.has_value());

  const auto compared = ReadFdoProfiles(kDump, &second.profile, "/tmp");
  REQUIRE(compared.ok());
  CHECK_FALSE(compared->front().against.has_value());
  CHECK(compared->back().against->empty());

  const auto json = nlohmann::json::parse(FormatFdoJson({kDump, "", *compiles}));
  CHECK(json["schema"] == "pgle.inspect.fdo/1");
  CHECK(json["profile"].is_null());
  CHECK(json["compiles"][0]["empty"] == true);
  CHECK(json["compiles"][1]["costs"] == 264);
  CHECK(json["compiles"][1]["points"].size() == 4);
  CHECK(json["compiles"][1]["points"][0]["sha256"].get<std::string>().size() == 64);
}

TEST_CASE("empty everywhere: the profile came by path, or not at all") {
  const Folder folder;
  folder.Write("module_0001.jit_f.before_optimizations.fdo_profile", "");
  folder.Write("module_0002.jit_f.before_optimizations.fdo_profile", "");
  auto compiles = ReadFdoProfiles(folder.path(), nullptr, "/tmp");
  REQUIRE(compiles.ok());
  CHECK(FormatFdoText({folder.path(), "", *compiles}).find("never appears here") !=
        std::string::npos);
  folder.Write("module_0002.jit_f.debug_options",
               "xla_gpu_pgle_profile_file_or_directory_path: \"/data/p.pb\"\n");
  compiles = ReadFdoProfiles(folder.path(), nullptr, "/tmp");
  REQUIRE(compiles.ok());
  CHECK(compiles->back().profile_path == "/data/p.pb");
  CHECK(FormatFdoText({folder.path(), "", *compiles})
            .find("empty because the profile came by path (/data/p.pb)") != std::string::npos);
}

TEST_CASE("dump points that disagree") {
  const Folder folder;
  folder.Write("module_0001.jit_f.before_optimizations.fdo_profile", kProfile);
  folder.Write("module_0001.jit_f.sm_9.0_gpu_after_optimizations.fdo_profile", "");
  const auto compiles = ReadFdoProfiles(folder.path(), nullptr, "/tmp");
  REQUIRE(compiles.ok());
  CHECK_FALSE(compiles->front().is_equal);
}

TEST_CASE("a text profile in fdo_profile is read as XLA reads it") {
  const Folder folder;
  folder.Write("module_0001.jit_f.before_optimizations.fdo_profile",
               "costs { name: \"fusion.1\" cost_us: 2 }\n");
  const auto compiles = ReadFdoProfiles(folder.path(), nullptr, "/tmp");
  REQUIRE(compiles.ok());
  CHECK(compiles->front().profile.costs.size() == 1);
}

TEST_CASE("errors name the file") {
  const Folder folder;
  auto compiles = ReadFdoProfiles(folder.path(), nullptr, "/tmp");
  REQUIRE_FALSE(compiles.ok());
  CHECK(compiles.error().what == "holds no .fdo_profile file");
  CHECK(compiles.error().code == ErrorCode::kFailed);
  folder.Write("module_0001.jit_f.before_optimizations.fdo_profile",
               kProfile.substr(0, kProfile.size() - 3));
  compiles = ReadFdoProfiles(folder.path(), nullptr, "/tmp");
  REQUIRE_FALSE(compiles.ok());
  CHECK(compiles.error().where.find("module_0001.jit_f") != std::string::npos);
  compiles = ReadFdoProfiles(folder.path() + "/none", nullptr, "/tmp");
  REQUIRE_FALSE(compiles.ok());
  CHECK(compiles.error().what == "does not exist");
}

}  // namespace
}  // namespace pgle
