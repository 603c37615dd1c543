#include "inspect/log_line.h"

#include <doctest/doctest.h>

namespace pgle {

TEST_CASE("absl's prefix") {
  const LogLine line =
      ParseLogLine("I1130 14:21:32.181551    2280 gpu_hlo_schedule.cc:393] Using PGLE profile");
  CHECK(line.severity == 'I');
  CHECK(line.thread == 2280);
  CHECK(line.before.empty());
  CHECK(line.message == "Using PGLE profile");
  CHECK(ParseLogLine("W0000 00:00:1755.123456   12345 x.cc:7]   fusion.1\r").message ==
        "  fusion.1");
}

TEST_CASE("TSL's prefix has no thread id") {
  const LogLine line = ParseLogLine(
      "2023-07-21 16:09:43.551600: I external/xla/xla/service/gpu/gpu_hlo_schedule.cc:478] Found");
  CHECK(line.severity == 'I');
  CHECK(line.thread == LogLine::kNoThread);
  CHECK(line.message == "Found");
}

TEST_CASE("what a launcher puts before either prefix") {
  const char* absl = "I1130 14:21:32.181551    2280 gpu_hlo_schedule.cc:393] m";
  const char* tsl = "2023-07-21 16:09:43.551600: I external/xla/x.cc:478] m";
  for (const std::string prefix : {absl, tsl}) {
    const auto label = [&](const std::string& before) {
      const std::string text = before + prefix;
      const LogLine line = ParseLogLine(text);
      CHECK(line.message == "m");
      return ProcessLabel(line.before);
    };
    CHECK(label("3: ") == "3");
    CHECK(label("[1,3]<stderr>:") == "[1,3]<stderr>");
    CHECK(label("[pod/train-0/main] ") == "[pod/train-0/main]");
    CHECK(label("2026-01-02T03:04:05.678Z stderr F ") == "stderr F");
    CHECK(label("[12:30:01] worker-7 | ") == "worker-7");
    CHECK(label(" 12%|##  | 3/25 [00:01<00:10, 2.0it/s]") == "");
  }
}

TEST_CASE("text that only looks like a prefix") {
  for (const char* text :
       {"Found 126 instructions from the profile.", "a.cc:12] b", "x [a.cc:12] b",
        "I1130 gpu_hlo_schedule.cc:393] m", "Z1130 14:21:32.1 22 x.cc:393] m",
        "I1130 14:21:32.181551 x gpu_hlo_schedule.cc:393] m"}) {
    CAPTURE(text);
    CHECK(ParseLogLine(text).severity == 0);
  }
}

TEST_CASE("colours and progress bars") {
  std::string scratch;
  CHECK(WithoutAnsi("plain", &scratch) == "plain");
  CHECK(WithoutAnsi("\x1b[1;31mW1130\x1b[0m x\x1b[K", &scratch) == "W1130 x");
  CHECK(WithoutAnsi("cut \x1b[1", &scratch) == "cut ");
  const LogLine line = ParseLogLine(" 10%|#\r 20%|##\rI1130 14:21:32.181551    2280 x.cc:393] m");
  CHECK(line.thread == 2280);
}

}  // namespace pgle
