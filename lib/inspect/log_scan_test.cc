#include "inspect/log_scan.h"

#include <doctest/doctest.h>

#include <fstream>

#include "inspect/log_lines_for_tests.h"
#include "io/input.h"

namespace pgle {
namespace {

const ModuleFilter kJax = IsFrameworkModule;

LogReport ScanText(const std::string& text) {
  LogReport report;
  const Status status = ScanLogText(text, "x.log", kJax, &report);
  REQUIRE(status.ok());
  return report;
}

std::string Real(const std::string& name) {
  const auto input = Input::Open(std::string(PGLE_TESTDATA) + "/runs/" + name);
  REQUIRE(input.ok());
  return std::string(input->bytes());
}

}  // namespace

TEST_CASE("a real log: source, counts, names, small modules by stem") {
  const LogReport report = ScanText(Real("logs/used.log.zst"));
  REQUIRE(report.processes.size() == 1);
  const LogProcess& process = report.processes[0];
  CHECK(process.starts == 1);
  CHECK(process.modules.size() == 5);
  const LogModule* module = process.Find("jit_train_step");
  REQUIRE(module != nullptr);
  REQUIRE(module->compiles.size() == 1);
  const LogCompile& compile = module->compiles[0];
  CHECK(compile.source == ProfileSource::kPath);
  CHECK(compile.path == "/tmp/p/logs/good.pb");
  CHECK(compile.found == 126);
  CHECK(compile.missing == 15);
  CHECK(compile.missing_names.size() == 15);
  CHECK(compile.missing_names.front() == "all-gather-start");
  CHECK(compile.scheduled);
  uint64_t small = 0;
  for (const auto& [stem, count] : process.small_modules) small += count.compiles;
  CHECK(small == 497);
  CHECK(process.small_modules.size() == 8);
  CHECK(process.small_modules.at("gemm_fusion_dot").compiles == 451);
}

TEST_CASE("both prefix formats say the same of the user's module") {
  for (const char* name : {"logs/used.log.zst", "logs/vlog.log.zst", "logs/autopgle.log.zst",
                           "fsdp_scan/log/recompile_jaxlib_profile.log.zst"}) {
    CAPTURE(name);
    const std::string text = Real(name);
    const LogReport absl = ScanText(text), tsl = ScanText(AsTsl(text));
    const LogCompile& a = absl.processes[0].Find("jit_train_step")->compiles[0];
    const LogCompile& b = tsl.processes[0].Find("jit_train_step")->compiles[0];
    CHECK(a.found == b.found);
    CHECK(a.missing == b.missing);
    CHECK(a.missing_names == b.missing_names);
    CHECK(a.path == b.path);
    CHECK(b.scheduled);
  }
}

TEST_CASE("threads interleaved line by line") {
  LogText log;
  log.Start(1).Using(1).Using(2, "/d/q.pb").Open(1, "jit_a").Open(2, "jit_b");
  log.Say(2, "Found 0 instructions from the profile.")
      .Say(1, "Found 7 instructions from the profile.");
  log.Say(1, "Missing 1 instructions from the profile.");
  log.Say(2, "Missing 2 instructions from the profile.");
  log.Say(2, "  x").Say(1, "  y").Say(2, "  z").Scheduled(2);
  const LogReport report = ScanText(log.str());
  const LogCompile& a = report.processes[0].Find("jit_a")->compiles[0];
  const LogCompile& b = report.processes[0].Find("jit_b")->compiles[0];
  CHECK(a.found == 7);
  CHECK(a.missing_names == std::vector<std::string>{"y"});
  CHECK(!a.scheduled);
  CHECK(b.found == 0);
  CHECK(b.path == "/d/q.pb");
  CHECK(b.missing_names == std::vector<std::string>{"x", "z"});
  CHECK(b.scheduled);
}

TEST_CASE("processes interleaved, told apart by their labels") {
  LogText log;
  log.Before("0: ").Start(9).Before("1: ").Start(9);
  log.Before("0: ").Using(9).Open(9, "jit_a").Before("1: ").Using(9).Open(9, "jit_a");
  log.Before("0: ").Counts(9, 5, 1).Before("1: ").Counts(9, 0, 6);
  const LogReport report = ScanText(log.str());
  REQUIRE(report.processes.size() == 2);
  CHECK(report.processes[0].label == "0");
  CHECK(report.processes[0].Find("jit_a")->compiles[0].found == 5);
  CHECK(report.processes[1].label == "1");
  CHECK(report.processes[1].Find("jit_a")->compiles[0].found == 0);
}

TEST_CASE("mixed threads without thread ids are seen") {
  LogText log(true);
  log.Start(0).Using(0).Open(0, "jit_a").Open(0, "jit_b").Counts(0, 9, 1).Counts(0, 0, 5);
  const LogReport report = ScanText(log.str());
  const LogCompile& b = report.processes[0].Find("jit_b")->compiles[0];
  CHECK(b.mixed);
  CHECK(b.found == 0);
  CHECK(b.missing == 5);
  CHECK(b.best_found == 9);
}

TEST_CASE("another thread's lines between Found profile and the scheduler's: no claim") {
  LogText log(true);
  log.Start(0).Using(0).Open(0, "jit_a").Using(0).Scheduled(0);
  CHECK(!ScanText(log.str()).processes[0].Find("jit_a")->compiles[0].scheduled);
}

TEST_CASE("a directory: the .pbtxt that is missing does not matter when the .pb is there") {
  const std::string stem = "/d/0123456789abcdef0123456789abcdef";
  LogText log;
  log.Start(1).Say(1, "PGLE profile file does not exist: " + stem + ".pbtxt", 'E');
  log.Using(1, stem + ".pb").Open(1, "jit_a").Counts(1, 5, 1);
  const LogReport report = ScanText(log.str());
  CHECK(report.processes[0].missing_files.empty());
  CHECK(report.processes[0].Find("jit_a")->compiles[0].failure.empty());
}

TEST_CASE("a module that its fingerprint names and that gets no profile") {
  const std::string fingerprint = "Fingerprint before LHS for module jit_a(1) = 00ff";
  LogText log;
  log.Start(1).Say(1, fingerprint).Scheduled(1);
  const LogReport silent = ScanText(log.str());
  REQUIRE(silent.processes[0].Find("jit_a") != nullptr);
  CHECK(!silent.processes[0].Find("jit_a")->compiles[0].profile_found);
  LogText cut;
  cut.Start(1).Say(1, fingerprint);
  CHECK(ScanText(cut.str()).processes[0].Find("jit_a") == nullptr);
  LogText missing;
  missing.Start(1).Say(1, fingerprint).Say(1, "PGLE profile file does not exist: /d/p.pb", 'E');
  CHECK(!ScanText(missing.str()).processes[0].Find("jit_a")->compiles[0].failure.empty());
}

TEST_CASE("the program started again in one log") {
  LogText log;
  log.Start(1).Using(1).Open(1, "jit_a").Counts(1, 0, 5);
  log.Start(1).Using(1).Open(1, "jit_a").Counts(1, 5, 0);
  const LogReport report = ScanText(log.str());
  REQUIRE(report.processes.size() == 2);
  CHECK(report.processes[1].attempt == 2);
  LogText idle;
  for (int i = 0; i < 5000; ++i) idle.Start(1);
  CHECK(ScanText(idle.str()).processes.size() == 1);
}

TEST_CASE("equal compiles are counted, not kept") {
  LogText log;
  log.Start(1);
  for (int i = 0; i < 3000; ++i) log.Using(1).Open(1, "jit_a").Counts(1, 5, 1);
  for (int i = 0; i < 3000; ++i) log.Using(1).Open(1, "jit_b").Counts(1, i, 1);
  const LogReport report = ScanText(log.str());
  CHECK(report.processes[0].Find("jit_a")->compiles.size() == 1);
  CHECK(report.processes[0].Find("jit_a")->compiles[0].times == 3000);
  CHECK(report.processes[0].Find("jit_b")->compiles.size() == LogModule::kMaxCompiles);
  CHECK(report.processes[0].Find("jit_b")->compiles_left_out == 3000 - LogModule::kMaxCompiles);
}

TEST_CASE("colours, carriage returns, a last line without end") {
  const std::string prefix = "\x1b[33mW1130 14:21:32.181551    7 x_profile.cc:192]\x1b[0m ";
  const LogReport report = ScanText(
      "I1130 14:21:32.181551    7 x.cc:1] Found profile for module jit_a, using profile guided "
      "latency "
      "estimator\r\n" +
      prefix + "Found 3 instructions from the profile.\x1b[K\r\n 50%|##\r" + prefix +
      "Missing 0 instructions from the profile.");
  const LogCompile& compile = report.processes[0].Find("jit_a")->compiles[0];
  CHECK(compile.found == 3);
  CHECK(compile.missing == 0);
}

TEST_CASE("what is no log") {
  LogReport report;
  for (const std::string& text : {std::string("\x7f"
                                              "ELF\x02\x01\x01\0",
                                              8),
                                  std::string("\xff\xfeI\0", 4), std::string("a\0b", 3)}) {
    const Status status = ScanLogText(text, "x", kJax, &report);
    REQUIRE(!status.ok());
    CHECK(status.error().where == "x");
  }
  CHECK(ScanLogText("", "empty", kJax, &report).ok());
  CHECK(ScanLogText("caf\xc3\xa9 \x1b[0m\ttab\n", "text", kJax, &report).ok());
}

TEST_CASE("stems") {
  CHECK(ModuleStem("gemm_fusion_dot_129") == "gemm_fusion_dot");
  CHECK(ModuleStem("gemm_fusion_dot.123.clone.4") == "gemm_fusion_dot");
  CHECK(ModuleStem("loop_add_fusion") == "loop_add_fusion");
  CHECK(ModuleStem("123") == "123");
}

}  // namespace pgle
