#include "inspect/flag_findings.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "profile/cost_profile.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

const std::string kPath = "--xla_gpu_pgle_profile_file_or_directory_path=";
const std::string kProfile = std::string(PGLE_TESTDATA) + "/runs/logs/profile.pb";
const std::string kFingerprint = "0123456789abcdef0123456789abcdef";

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("pgle_flags_test." + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string Add(const std::string& name, const std::string& content = "") const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

JobEnvironment Shown() {
  JobEnvironment environment;
  environment.log_level = "0";
  return environment;
}

FlagReport Inspect(const std::string& flags, JobEnvironment environment = Shown(),
                   std::set<std::string> fingerprints = {}) {
  FlagQuestion question;
  question.flags = ParseXlaFlags(flags);
  question.environment = std::move(environment);
  question.fingerprints = std::move(fingerprints);
  return InspectFlags(question, fs::temp_directory_path().string());
}

// The kind of the finding; "" when there is none.
std::string Has(const FlagReport& report, const std::string& id) {
  for (const FlagFinding& finding : report.findings) {
    if (finding.id == id) return FindingKindName(finding.kind);
  }
  return "";
}

std::string OneCost(const std::string& name) {
  return SerializeProfile({{{name, 1.0}}}, ProfileFormat::kText);
}

}  // namespace

TEST_CASE("flags that are good") {
  const FlagReport report = Inspect(kPath + kProfile);
  CHECK(report.profile_would_be_used());
  CHECK(report.findings.empty());
}

TEST_CASE("every silent way to lose the profile") {
  const auto ignored = [](const std::string& flags, const std::string& id) {
    const FlagReport report = Inspect(flags);
    CAPTURE(flags);
    CHECK(Has(report, id) == "ignored");
    CHECK(!report.profile_would_be_used());
  };
  const Folder folder;
  ignored("", "no_profile");
  ignored("--xla_a=1 \\ " + kPath + kProfile, "dropped");
  ignored("--xla_a=1 , " + kPath + kProfile, "dropped");
  ignored("-" + kPath.substr(2) + kProfile, "one_dash");
  ignored(kPath.substr(0, kPath.size() - 1) + " " + kProfile, "no_value");
  ignored(kPath + "/nonexistent/p.pb", "missing_path");
  ignored(kPath + "~/p.pb", "missing_path");
  ignored(kPath + "gs://bucket/p.pb", "remote_path");
  ignored(kPath + "s3://bucket/p.pb", "remote_path");
  ignored(kPath + folder.Add("p.txt", OneCost("a")), "extension");
  ignored(kPath + folder.Add("p.proto"), "extension");
  ignored(kPath + folder.Add("p.fdo_profile"), "extension");
  ignored(kPath + folder.Add("p"), "extension");
  ignored(kPath + folder.Add("empty.pb"), "unreadable_profile");
  ignored(kPath + folder.Add("text.pb", OneCost("fusion.1")), "unreadable_profile");
  ignored(kPath + folder.Add("binary.pbtxt", std::string("\x0a\x0c\x0a\x01", 4)),
          "unreadable_profile");
  ignored("--xla_gpu_pgle_accuracy_checker=WARN " + kPath + kProfile, "checker_value");
}

TEST_CASE("directories") {
  const Folder folder;
  CHECK(Has(Inspect(kPath + folder.path()), "no_fingerprint_file") == "ignored");
  folder.Add("other.pb");
  CHECK(Has(Inspect(kPath + folder.path()), "no_fingerprint_file") == "ignored");
  folder.Add(kFingerprint + ".pbtxt", OneCost("a"));
  CHECK(Inspect(kPath + folder.path()).profile_would_be_used());
  CHECK(Has(Inspect(kPath + folder.path(), Shown(), {"00000000000000000000000000000000"}),
            "no_fingerprint_file") == "ignored");
  CHECK(Inspect(kPath + folder.path(), Shown(), {kFingerprint}).profile_would_be_used());
  folder.Add(kFingerprint + ".pb", SerializeProfile({{{"a", 1.0}}}, ProfileFormat::kBinary));
  CHECK(Has(Inspect(kPath + folder.path()), "shadowed") == "ignored");
}

TEST_CASE("a profile of another module") {
  const Folder folder;
  const std::string path = folder.Add("p.pbtxt", OneCost(kFingerprint + "::fusion.1"));
  CHECK(Inspect(kPath + path).profile_would_be_used());
  CHECK(Inspect(kPath + path, Shown(), {kFingerprint}).profile_would_be_used());
  CHECK(Has(Inspect(kPath + path, Shown(), {"00"}), "foreign_fingerprint") == "ignored");
}

TEST_CASE("the environment") {
  JobEnvironment environment;
  CHECK(Has(Inspect(kPath + kProfile, environment), "log_level") == "hidden");
  for (const char* level : {"1", "2", "3"}) {
    environment.log_level = level;
    CHECK(Has(Inspect(kPath + kProfile, environment), "log_level") == "hidden");
    CHECK(Inspect(kPath + kProfile, environment).profile_would_be_used());
  }
  environment = Shown();
  environment.enable_pgle = "true";
  CHECK(Has(Inspect(kPath + kProfile, environment), "auto_pgle_and_path") == "ignored");
  CHECK(Inspect("", environment).profile_would_be_used());
  environment.profiling_runs = "0";
  CHECK(!Inspect("", environment).profile_would_be_used());
  environment.enable_pgle = "false";
  CHECK(!Inspect("", environment).profile_would_be_used());
  CHECK(
      Has(Inspect("--xla_gpu_pgle_accuracy_checker=PGLE_STRICTNESS_LEVEL_OFF " + kPath + kProfile),
          "checker_off") == "hidden");
}

TEST_CASE("a cache that was filled before the profile was written") {
  const Folder folder;
  const std::string entry = folder.Add("jit_train_step-0a1b-cache");
  const std::string profile = folder.Add("p.pbtxt", OneCost("a"));
  JobEnvironment environment = Shown();
  environment.cache_directory = folder.path();
  fs::last_write_time(entry, fs::last_write_time(profile) - std::chrono::hours(1));
  CHECK(Has(Inspect(kPath + profile, environment), "cache") == "ignored");
  fs::last_write_time(entry, fs::last_write_time(profile) + std::chrono::hours(1));
  CHECK(Has(Inspect(kPath + profile, environment), "cache").empty());
}

TEST_CASE("text and JSON") {
  const FlagReport report = Inspect("--xla_a=1 x " + kPath + kProfile);
  CHECK(FormatFlagsText(report).find("XLA stops at 'x'") != std::string::npos);
  CHECK(FormatFlagsJson(report).find("\"schema\": \"pgle.inspect.flags/1\"") != std::string::npos);
}

}  // namespace pgle
