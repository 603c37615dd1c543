// The window as the command line gives it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "capture/recorder/control_page.h"

namespace pgle {

struct WindowOptions {
  std::optional<std::string> steps;           // "A:B", "auto", "auto:N"
  std::optional<double> delay_s, duration_s;  // both, or none
  bool profiler_api = false;
  std::optional<std::string> signal;  // its name or number
  bool times = false;                 // no window at all
};

inline constexpr uint64_t kAutoSteps = 5;

// "USR1", "SIGUSR1" or "10" as the signal's number.
// Errors: no such signal, or one that cannot be caught or means something else here.
Result<int> ParseSignal(const std::string& option, const std::string& text);

// Fills mode, first, last, count, delay_ns and duration_ns; nothing given: auto.
// Errors: two windows, a range that is empty or no range, a time that is no time.
Result<recorder::WindowSettings> ParseWindow(const WindowOptions& options);

}  // namespace pgle
