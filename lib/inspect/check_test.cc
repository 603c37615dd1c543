#include "inspect/check.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "inspect/log_lines_for_tests.h"
#include "io/input.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

const std::string kRuns = std::string(PGLE_TESTDATA) + "/runs/";

std::string Real(const std::string& name) {
  const auto input = Input::Open(kRuns + name);
  REQUIRE(input.ok());
  return std::string(input->bytes());
}

// A file that goes with the object.
class File {
 public:
  explicit File(const std::string& content, const std::string& name = "x.log")
      : path_((fs::temp_directory_path() / ("pgle_check_test." + std::to_string(getpid()) + name))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~File() { fs::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

CheckReport CheckFile(const std::string& path, CheckOptions options = {}) {
  options.logs = {path};
  const auto report = Check(options);
  REQUIRE(report.ok());
  return *report;
}

CheckReport CheckText(const std::string& text, CheckOptions options = {}) {
  const File file(text);
  return CheckFile(file.path(), std::move(options));
}

CheckOptions Module(const std::string& pattern) {
  CheckOptions options;
  options.module_pattern = pattern;
  return options;
}

const ModuleVerdict& Target(const CheckReport& report) {
  for (const ModuleVerdict& module : report.modules) {
    if (module.is_target && module.verdict == report.verdict) return module;
  }
  FAIL("no target");
  return report.modules.front();
}

bool Says(const CheckReport& report, const std::string& words) {
  CAPTURE(Target(report).cause);
  return Target(report).cause.find(words) != std::string::npos;
}

std::string Without(const std::string& text, const std::string& word) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.find(word) == std::string::npos) out += line + "\n";
    begin = end + 1;
  }
  return out;
}

}  // namespace

TEST_CASE("the nine logs, in both prefix formats") {
  const struct {
    const char* name;
    Verdict verdict;
    const char* cause;
  } kTable[] = {
      {"used", Verdict::kUsed, ""},
      {"autopgle", Verdict::kUsed, ""},
      {"vlog", Verdict::kUsed, ""},
      {"foreign_fp", Verdict::kNotUsed, "fingerprint of another module"},
      {"missing_file", Verdict::kNotUsed, "does not exist: /tmp/p/logs/nosuch.pb"},
      {"empty_dir", Verdict::kNotUsed, "/tmp/p/logs/tr holds no <fingerprint>.pb"},
      {"autopgle_contended", Verdict::kNotUsed, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS"},
      {"stray_token", Verdict::kNotShown, "no line about a profile"},
      {"wrong_ext", Verdict::kNotShown, "no line about a profile"},
  };
  for (const auto& row : kTable) {
    const std::string text = Real(std::string("logs/") + row.name + ".log.zst");
    for (const std::string& log : {text, AsTsl(text)}) {
      for (const std::string module : {"^jit_train_step$", ""}) {
        CAPTURE(row.name);
        CAPTURE(module);
        const CheckReport report = CheckText(log, Module(module));
        CHECK(report.verdict == row.verdict);
        CHECK(Says(report, row.cause));
      }
    }
  }
  const CheckReport used = CheckFile(kRuns + "logs/used.log.zst");
  CHECK(Target(used).module == "jit_train_step");
  CHECK(Target(used).found == 126);
  CHECK(Target(used).missing == 15);
}

TEST_CASE("silent logs: the cause is in the flags") {
  const std::string flag = "--xla_gpu_pgle_profile_file_or_directory_path=";
  CheckOptions options = Module("jit_train_step");
  options.xla_flags = "--xla_dump_to=d \\ " + flag + "/p/good.pb";
  const CheckReport stray = CheckFile(kRuns + "logs/stray_token.log.zst", options);
  CHECK(stray.verdict == Verdict::kNotUsed);
  CHECK(Says(stray, "stops at '\\'"));
  options.xla_flags = flag + "/p/profile.txt";
  const CheckReport extension = CheckFile(kRuns + "logs/wrong_ext.log.zst", options);
  CHECK(extension.verdict == Verdict::kNotUsed);
  CHECK(Says(extension, "neither in .pb nor in .pbtxt"));
  options.xla_flags = flag + "/p/good.pb";  // good flags prove nothing
  CHECK(CheckFile(kRuns + "logs/wrong_ext.log.zst", options).verdict == Verdict::kNotShown);
  options.xla_flags = "--xla_gpu_pgle_accuracy_checker=PGLE_STRICTNESS_LEVEL_OFF " + flag + "/p.pb";
  CHECK(CheckFile(kRuns + "logs/wrong_ext.log.zst", options).notes.size() == 1);
  options.xla_flags = flag + "/p/profile.txt";  // the log is of another run
  const CheckReport other = CheckFile(kRuns + "logs/used.log.zst", options);
  CHECK(other.notes.size() == 1);
}

TEST_CASE("nothing missing: only where the checker is known to be on") {
  const std::string name = "fsdp_slow_link/log/recompile_scheduling_names.log.zst";
  for (const std::string& text : {Real(name), AsTsl(Real(name))}) {
    const CheckReport with = CheckText(text);
    CHECK(with.verdict == Verdict::kUsed);
    CHECK(Target(with).module == "jit_train_step");
    const std::string alone = Without(text, "profile_guided_latency_estimator.cc");
    const CheckReport without = CheckText(alone, Module("jit_train_step"));
    CHECK(without.verdict == Verdict::kNotShown);
    CHECK(Target(without).fix.find("xla_gpu_pgle_accuracy_checker") != std::string::npos);
    CheckOptions options = Module("jit_train_step");
    options.hlo = kRuns + "fsdp_slow_link/hlo/profiled";
    options.profile = kRuns + "fsdp_slow_link/scheduling_names_profile.pb";
    const CheckReport emulated = CheckText(alone, options);
    CHECK(emulated.verdict == Verdict::kUsed);
    CHECK(Target(emulated).missing == 0);
    // Without the scheduler's line nothing shows that a cost was asked for.
    CHECK(CheckText(Without(text, "LatencyHidingScheduler"), Module("jit_train_step")).verdict ==
          Verdict::kNotShown);
  }
}

TEST_CASE("a module that asks for nothing is never used") {
  for (const char* name : {"logs/used.log.zst", "logs/foreign_fp.log.zst"}) {
    CHECK(CheckFile(kRuns + name, Module("^jit_stage$")).verdict == Verdict::kNotShown);
  }
}

TEST_CASE("the evidence of another process or thread does not count") {
  LogText log;  // process 2 has the checker off, or nothing missing: not to be told
  log.Start(1).Using(1).Open(1, "jit_init").Counts(1, 1, 1).Scheduled(1);
  log.Start(2).Using(2).Open(2, "jit_train").Scheduled(2);
  CHECK(CheckText(log.str(), Module("jit_train")).verdict == Verdict::kNotShown);
  LogText one;
  one.Start(1).Using(1).Open(1, "jit_init").Counts(1, 1, 1);
  one.Using(2).Open(2, "jit_train").Scheduled(2);
  CHECK(CheckText(one.str(), Module("jit_train")).verdict == Verdict::kUsed);
}

TEST_CASE("found 0, too little, half a pair") {
  LogText none;
  none.Start(1).Using(1).Open(1, "jit_a").Counts(1, 0, 0).Scheduled(1);
  CHECK(CheckText(none.str()).verdict == Verdict::kNotUsed);
  LogText little;
  little.Start(1).Using(1).Open(1, "jit_a").Counts(1, 49, 51);
  CHECK(CheckText(little.str()).verdict == Verdict::kNotUsed);
  CheckOptions lower;
  lower.min_coverage = 0.4;
  CHECK(CheckText(little.str(), lower).verdict == Verdict::kUsed);
  LogText cut;
  cut.Start(1).Using(1).Open(1, "jit_a").Say(1, "Found 9 instructions from the profile.", 'W');
  CHECK(CheckText(cut.str()).verdict == Verdict::kNotShown);
  lower.min_coverage = 0;
  CHECK(CheckText(none.str(), lower).verdict == Verdict::kNotUsed);
}

TEST_CASE("mixed threads without thread ids: used only if every reading says so") {
  LogText log(true);
  log.Start(0).Using(0).Open(0, "jit_a").Open(0, "jit_b").Counts(0, 9, 1).Counts(0, 0, 5);
  CHECK(CheckText(log.str(), Module("jit_b")).verdict == Verdict::kNotShown);
  CHECK(CheckText(log.str(), Module("jit_a")).verdict == Verdict::kNotShown);
  LogText good(true);
  good.Start(0).Using(0).Open(0, "jit_a").Open(0, "jit_b").Counts(0, 9, 1).Counts(0, 5, 5);
  CHECK(CheckText(good.str(), Module("jit_b")).verdict == Verdict::kUsed);
  LogText bad(true);
  bad.Start(0).Using(0).Open(0, "jit_a").Open(0, "jit_b").Counts(0, 0, 1).Counts(0, 0, 5);
  CHECK(CheckText(bad.str(), Module("jit_b")).verdict == Verdict::kNotUsed);
}

TEST_CASE("lines lost from a log never make it better") {
  for (const char* lost : {"139 instructions", "Found 0", "Missing "}) {
    CAPTURE(lost);
    CHECK(CheckText(Without(Real("logs/foreign_fp.log.zst"), lost)).verdict != Verdict::kUsed);
  }
  LogText names;
  names.Start(1).Using(1).Open(1, "jit_init").Counts(1, 1, 1);
  names.Using(1).Open(1, "jit_a").Say(1, "  fusion.1", 'W').Scheduled(1);
  CHECK(CheckText(names.str(), Module("jit_a")).verdict == Verdict::kNotShown);
}

TEST_CASE("one process of several did not use it") {
  LogText labelled;
  labelled.Before("0: ").Start(1).Using(1).Open(1, "jit_a").Counts(1, 9, 1);
  labelled.Before("1: ").Start(2).Say(2, "PGLE profile file does not exist: /d/p.pb", 'E');
  CHECK(CheckText(labelled.str()).verdict == Verdict::kNotUsed);
  LogText silent;
  silent.Before("0: ").Start(1).Using(1).Open(1, "jit_a").Counts(1, 9, 1).Before("1: ").Start(2);
  CHECK(CheckText(silent.str()).verdict == Verdict::kNotShown);
  LogText mixed;  // no labels: two processes, one compile
  mixed.Start(1).Start(2).Using(1).Open(1, "jit_a").Counts(1, 9, 1);
  const CheckReport report = CheckText(mixed.str());
  CHECK(report.verdict == Verdict::kNotShown);
  CHECK(Says(report, "mixes 2 processes"));
  mixed.Using(2).Open(2, "jit_a").Counts(2, 9, 1);
  CHECK(CheckText(mixed.str()).verdict == Verdict::kUsed);
  const File empty("nothing of XLA\n", "y.log"), used(Real("logs/used.log.zst"), "z.log");
  CheckOptions options;
  options.logs = {used.path(), empty.path()};
  CHECK(Check(options)->verdict == Verdict::kNotShown);
}

TEST_CASE("a later compile of the same module that did not use it") {
  LogText log;
  log.Start(1).Using(1).Open(1, "jit_a").Counts(1, 9, 1).Using(1).Open(1, "jit_a").Counts(1, 0, 9);
  CHECK(CheckText(log.str()).verdict == Verdict::kNotUsed);
}

TEST_CASE("XLA before June 2025 names no module: the verdict is for the process") {
  for (const bool tsl : {true, false}) {
    LogText log(tsl);
    log.Start(1).Using(1).Open(1, "").Counts(1, 0, 1).Using(1).Open(1, "").Counts(1, 90, 10);
    log.Scheduled(1).Using(1).Open(1, "").Counts(1, 0, 2);
    const CheckReport report = CheckText(log.str(), Module("jit_train_step"));
    CHECK(report.verdict == Verdict::kUsed);
    CHECK(Target(report).found == 90);
    CHECK(Target(report).module.empty());
  }
  LogText old(true);  // before July 2024: no counts
  old.Start(1).Using(1).Open(1, "").Scheduled(1);
  CHECK(CheckText(old.str()).verdict == Verdict::kNotShown);
  old.Say(1, "!!! PGLE profile likely not applicable to the module", 'E');
  CHECK(CheckText(old.str()).verdict == Verdict::kNotUsed);
}

TEST_CASE("INFO hidden: counts without Found profile") {
  LogText log;
  log.Counts(1, 126, 15);
  const CheckReport report = CheckText(log.str(), Module("jit_train_step"));
  CHECK(report.verdict == Verdict::kUsed);
  CHECK(Target(report).module.empty());
  const CheckReport nothing = CheckText("E1130 14:21:32.181551    7 x.cc:1] CUPTI PGLE\n");
  CHECK(nothing.verdict == Verdict::kNotShown);
}

TEST_CASE("the accuracy checker failed the compile") {
  const std::string error =
      "jax.errors.JaxRuntimeError: INVALID_ARGUMENT: Found 1 missing instructions. Discarding the "
      "profile.";
  LogText log;
  log.Start(1).Using(1).Open(1, "jit_a").Counts(1, 99, 1).Raw(error);
  CHECK(CheckText(log.str()).verdict == Verdict::kNotUsed);
  LogText labelled;
  labelled.Before("0: ").Start(1).Using(1).Open(1, "jit_a").Counts(1, 99, 1).Raw(error);
  labelled.Scheduled(1);
  CHECK(CheckText(labelled.str()).verdict == Verdict::kNotUsed);
}

TEST_CASE("JAX's cache and its empty trace") {
  const auto verdict = [](const std::string& line) {
    LogText log;
    log.Start(1).Raw(line);
    return CheckText(log.str(), Module("jit_a")).verdict;
  };
  CHECK(
      verdict(
          "x: UserWarning: PERSISTENT CACHE MISS for PGLE-optimized jit_a despite non-PGLE hit") ==
      Verdict::kNotUsed);
  CHECK(verdict("PGLE-optimized jit_a loaded from compilation cache") == Verdict::kNotShown);
  CHECK(verdict("Persistent compilation cache hit for 'jit_a' with key 'jit_a-1'") ==
        Verdict::kNotShown);
  CHECK(verdict("PERSISTENT CACHE WRITE with key jit_a-1, this is unexpected because "
                "JAX_COMPILATION_CACHE_EXPECT_PGLE is set.") == Verdict::kNotUsed);
  CHECK(
      verdict("x.py:1: RuntimeWarning: PGLE collected an empty trace, may be due to contention") ==
      Verdict::kNotUsed);
}

TEST_CASE("lines that quote XLA's are no evidence") {
  std::string text = Real("logs/stray_token.log.zst");
  text +=
      "Found profile for module jit_train_step, using profile guided latency estimator\n"
      "Found 126 instructions from the profile.\nMissing 15 instructions from the profile.\n"
      "INFO root: Using PGLE profile from /d/p.pb\n";
  CHECK(CheckText(text).verdict == Verdict::kNotShown);
}

TEST_CASE("the profile given is another than the log's") {
  CheckOptions options = Module("jit_train_step");
  options.profile = kRuns + "logs/profile.pb";
  CHECK(CheckFile(kRuns + "logs/used.log.zst", options).verdict == Verdict::kUsed);
  options.hlo = kRuns + "logs/hlo";
  CHECK(CheckFile(kRuns + "logs/used.log.zst", options).verdict == Verdict::kUsed);
  options.profile = kRuns + "logs/foreign_profile.pb";
  CHECK(CheckFile(kRuns + "logs/used.log.zst", options).verdict == Verdict::kNotShown);
  const CheckReport foreign = CheckFile(kRuns + "logs/foreign_fp.log.zst", options);
  CHECK(foreign.verdict == Verdict::kNotUsed);
  CHECK(Says(foreign, "every name in the profile carries another fingerprint"));
}

TEST_CASE("directory mode: another module's file is there, the target's is not") {
  LogText log;
  log.Start(1)
      .Using(1, "/d/0123456789abcdef0123456789abcdef.pb")
      .Open(1, "jit_init")
      .Counts(1, 9, 0);
  log.Say(1, "PGLE profile file does not exist: /d/00000000000000000000000000000001.pb", 'E');
  log.Scheduled(1);
  CHECK(CheckText(log.str(), Module("jit_train_step")).verdict != Verdict::kUsed);
}

TEST_CASE("without a log") {
  CheckOptions dump;
  dump.dump_directory = kRuns + "auto_pgle/dump";
  const auto used = Check(dump);
  REQUIRE(used.ok());
  CHECK(used->verdict == Verdict::kUsed);
  CheckOptions hlo;
  hlo.hlo = kRuns + "logs/hlo";
  CHECK(Check(hlo)->verdict == Verdict::kNotShown);
  hlo.profile = kRuns + "logs/profile.pb";
  CHECK(Check(hlo)->verdict == Verdict::kNotShown);
  hlo.profile = kRuns + "logs/foreign_profile.pb";
  CHECK(Check(hlo)->verdict == Verdict::kNotUsed);
  CheckOptions flags;
  flags.xla_flags = "--xla_gpu_pgle_profile_file_or_directory_path=/p.txt";
  CHECK(Check(flags)->verdict == Verdict::kNotUsed);
  flags.xla_flags = "--xla_gpu_pgle_profile_file_or_directory_path=/p.pb";
  CHECK(Check(flags)->verdict == Verdict::kNotShown);
  CHECK(!Check({}).ok());
}

TEST_CASE("bad input") {
  CheckOptions options;
  options.logs = {kRuns + "logs/profile.pb"};
  CHECK(!Check(options).ok());
  options.logs = {"/nonexistent/x.log"};
  CHECK(!Check(options).ok());
  options.logs = {kRuns + "logs/used.log.zst"};
  options.module_pattern = "(";
  CHECK(!Check(options).ok());
  CheckOptions folder;
  folder.dump_directory = kRuns + "aggregate";
  CHECK(!Check(folder).ok());
}

}  // namespace pgle
