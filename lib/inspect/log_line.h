// The prefix of a log line: absl's ("I1130 14:21:32.181551    2280 gpu_hlo_schedule.cc:393] ...",
// jaxlib since August 2025) or TSL's ("2023-07-21 16:09:43.551600: I external/xla/xla/.../x.cc:478]
// ...", before), with whatever a launcher put before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pgle {

struct LogLine {
  static constexpr int64_t kNoThread = -1;

  char severity = 0;           // I, W, E or F; 0: the line has neither prefix
  int64_t thread = kNoThread;  // absl only
  std::string_view before;     // text before the prefix, or the whole line where there is none
  std::string_view message;    // behind "] ", or the whole line
};

// `line` without its end of line. What a progress bar overwrote (up to the last carriage return) is
// left out.
LogLine ParseLogLine(std::string_view line);

// The text without ANSI escape sequences (ECMA-48 control sequences): itself where it has none,
// else built in `scratch`.
std::string_view WithoutAnsi(std::string_view line, std::string* scratch);

// The process that a launcher names before the prefix: "3" of "3: I1130", "[1,3]<stderr>" of
// mpirun,
// "[pod/x/y]" of kubectl. Times are dropped; empty for what looks like no such name.
std::string ProcessLabel(std::string_view before);

}  // namespace pgle
