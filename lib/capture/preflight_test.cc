#include "capture/preflight.h"

#include <doctest/doctest.h>

#include <csignal>

#include "base/test_support.h"
#include "capture/fault_text.h"
#include "capture/outcome.h"
#include "capture/window_options.h"

namespace pgle {
namespace {

std::string Refusal(std::vector<std::string> entries, bool disable_auto_pgle = false) {
  const Status status = CheckEnvironment(Environment(std::move(entries)), disable_auto_pgle);
  return status.ok() ? "" : status.error().where + ": " + status.error().what;
}

TEST_CASE("an environment that is fit") {
  CHECK(Refusal({"PATH=/bin", "CUDA_INJECTION64_PATH=", "NVTX_INJECTION64_PATH=",
                 "NSYS_HOME=/opt/nsys", "JAX_ENABLE_PGLE=0"}) == "");
}

TEST_CASE("who holds the injection") {
  const auto holder = [](const char* path) {
    const std::string text = Refusal({std::string("CUDA_INJECTION64_PATH=") + path});
    const size_t begin = text.find("for ") + 4;
    return text.substr(begin, text.find(": ", begin) - begin);
  };
  CHECK(holder("/opt/nsight-systems/host/libToolsInjection64.so") == "nsys");
  CHECK(holder("/opt/nsight-compute/target/libcuda-injection.so") == "ncu");
  CHECK(holder("/x/libsanitizer-collection.so") == "compute-sanitizer");
  CHECK(holder("/x/lib/pgle/libpgle_recorder.so") == "another pgle-capture");
  CHECK(holder("none") == "another tool");
  CHECK(Refusal({"NSYS_PROFILING_SESSION_ID=3", "CUDA_INJECTION64_PATH=/x"})
            .starts_with("NSYS_PROFILING_SESSION_ID: "));
}

TEST_CASE("JAX's own PGLE") {
  for (const char* yes : {"true", "True", "1", "y", "YES", "on", "t"}) {
    CHECK(IsJaxTrue(yes));
    const std::string entry = std::string("JAX_ENABLE_PGLE=") + yes;
    CHECK(Refusal({entry}).starts_with("JAX_ENABLE_PGLE: "));
    CHECK(Refusal({entry}, true) == "");
  }
  for (const char* no : {"", "0", "false", "off", "no", "2"}) CHECK(!IsJaxTrue(no));
}

TEST_CASE("windows") {
  const auto steps = [](const char* text) {
    WindowOptions options;
    options.steps = text;
    return ParseWindow(options);
  };
  CHECK(ParseWindow({})->mode == recorder::WindowMode::kAuto);
  CHECK(ParseWindow({})->count == kAutoSteps);
  CHECK(steps("auto:12")->count == 12);
  CHECK(steps("20:25")->first == 20);
  CHECK(steps("20:25")->last == 25);
  CHECK(steps(":3")->first == 0);
  CHECK(steps(":3")->last == 3);
  for (const char* bad : {"", "5", "5:", "a:b", "5:5", "7:5", "-1:5", "1:2:3", "auto:", "auto:0",
                          "auto:x", "automatic", "1:99999999999999999999"}) {
    CHECK(!steps(bad).ok());
  }
  WindowOptions timed;
  timed.duration_s = 2.5;
  CHECK(ParseWindow(timed)->delay_ns == 0);
  CHECK(ParseWindow(timed)->duration_ns == 2'500'000'000);
  timed.delay_s = 1;
  CHECK(ParseWindow(timed)->delay_ns == 1'000'000'000);
  timed.duration_s = 0;
  CHECK(!ParseWindow(timed).ok());
  timed.duration_s = 1e30;
  CHECK(!ParseWindow(timed).ok());
  timed.duration_s.reset();
  CHECK(!ParseWindow(timed).ok());
  timed.duration_s = 1;
  timed.profiler_api = true;
  CHECK(!ParseWindow(timed).ok());
}

TEST_CASE("signals") {
  CHECK(*ParseSignal("", "USR1") == SIGUSR1);
  CHECK(*ParseSignal("", "SIGUSR2") == SIGUSR2);
  CHECK(*ParseSignal("", std::to_string(SIGHUP)) == SIGHUP);
  for (const char* bad :
       {"", "0", "-1", "99", "usr1", "KILL", "SIGSTOP", "TERM", "INT", "SIGSIGUSR1"}) {
    CHECK(!ParseSignal("", bad).ok());
  }
}

TEST_CASE("the driver's own word") {
  const TempDir temporary;
  const std::string directory = temporary.path;
  CHECK(!ReadDriverFacts(directory).is_visible);
  temporary.File("version", "NVRM version: 580.159\n");
  temporary.File("params", "RmProfilingAdminOnly: 0\nOther: 1\n");
  CHECK(ReadDriverFacts(directory).is_visible);
  CHECK(!ReadDriverFacts(directory).admin_only);
  temporary.File("params", "Other: 0\nRmProfilingAdminOnly: 1\n");
  CHECK(ReadDriverFacts(directory).admin_only);
}

TEST_CASE("CUPTI's versions") {
  CHECK(FormatCuptiVersion(130001) == "13.0.1");
  CHECK(FormatCuptiVersion(130300) == "13.3");
  CHECK(FormatCuptiVersion(26) == "12.8");
  CHECK(FormatCuptiVersion(25) == "12.6");
  CHECK(FormatCuptiVersion(0) == "unknown");
}

}  // namespace
}  // namespace pgle
