#include "capture/window_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <iterator>
#include <string_view>

namespace pgle {
namespace {

using recorder::WindowMode;
using recorder::WindowSettings;

// More executions than any program has; a later check then needs no thought about overflow.
constexpr uint64_t kMaxStep = 1'000'000'000'000;
constexpr double kMaxSeconds = 1e8;

std::optional<uint64_t> ParseStep(std::string_view text) {
  uint64_t step = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), step);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return step <= kMaxStep ? std::optional(step) : std::nullopt;
}

Status ParseSteps(const std::string& text, WindowSettings* window) {
  const Error unclear = UsageError("--steps", fmt::format("'{}' is no range of steps", text),
                                   "give A:B, auto or auto:N; 20:25 are the steps 20 to 24");
  const std::string_view view = text;
  if (view == "auto" || view.starts_with("auto:")) {
    window->mode = WindowMode::kAuto;
    window->count = kAutoSteps;
    if (view.size() == 4) return {};
    const std::optional<uint64_t> count = ParseStep(view.substr(5));
    if (!count || *count == 0) return unclear;
    window->count = *count;
    return {};
  }
  const size_t colon = view.find(':');
  if (colon == view.npos) return unclear;
  const std::string_view first = view.substr(0, colon);
  const std::optional<uint64_t> begin = first.empty() ? 0 : ParseStep(first);
  const std::optional<uint64_t> end = ParseStep(view.substr(colon + 1));
  if (!begin || !end) return unclear;
  if (*begin >= *end) {
    return UsageError("--steps", fmt::format("'{}' holds no step", text),
                      "the second number is the first step that is not recorded");
  }
  window->mode = WindowMode::kSteps;
  window->first = *begin;
  window->last = *end;
  return {};
}

Status CheckSeconds(const char* option, double seconds) {
  if (seconds >= 0 && seconds <= kMaxSeconds) return {};
  return UsageError(option, fmt::format("{} is no time in seconds", seconds));
}

Status ParseTimes(const WindowOptions& options, WindowSettings* window) {
  if (!options.duration_s) {
    return UsageError("--delay", "the window has no end", "give --duration too");
  }
  PGLE_RETURN_IF_ERROR(CheckSeconds("--delay", options.delay_s.value_or(0)));
  PGLE_RETURN_IF_ERROR(CheckSeconds("--duration", *options.duration_s));
  window->mode = WindowMode::kTime;
  window->delay_ns = static_cast<uint64_t>(options.delay_s.value_or(0) * 1e9);
  window->duration_ns = static_cast<uint64_t>(*options.duration_s * 1e9);
  if (window->duration_ns == 0) return UsageError("--duration", "the window is empty");
  return {};
}

}  // namespace

Result<int> ParseSignal(const std::string& option, const std::string& text) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    const std::string_view name = std::string_view(text).substr(text.starts_with("SIG") ? 3 : 0);
    number = 0;
    for (int candidate = 1; candidate < SIGRTMIN && number == 0; ++candidate) {
      const char* known = sigabbrev_np(candidate);
      if (known != nullptr && name == known) number = candidate;
    }
  }
  if (number < 1 || number > SIGRTMAX) {
    return UsageError(option, fmt::format("'{}' is no signal", text), "USR2 is one");
  }
  constexpr int kFree[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGIO, SIGPWR};
  if (number < SIGRTMIN &&
      std::find(std::begin(kFree), std::end(kFree), number) == std::end(kFree)) {
    return UsageError(option, fmt::format("'{}' has another meaning", text),
                      "take USR1, USR2 or HUP");
  }
  return number;
}

Result<WindowSettings> ParseWindow(const WindowOptions& options) {
  const bool is_timed = options.delay_s || options.duration_s;
  if (options.steps.has_value() + is_timed + options.profiler_api + options.signal.has_value() +
          options.times >
      1) {
    return UsageError("", "there can be one window only",
                      "give one of --steps, --delay with --duration, --profiler-api, --on-signal, "
                      "--times");
  }
  WindowSettings window;
  if (options.times) {
    window.mode = WindowMode::kNone;
  } else if (options.profiler_api) {
    window.mode = WindowMode::kProfilerApi;
  } else if (options.signal) {
    window.mode = WindowMode::kCommand;
  } else if (is_timed) {
    PGLE_RETURN_IF_ERROR(ParseTimes(options, &window));
  } else {
    PGLE_RETURN_IF_ERROR(ParseSteps(options.steps.value_or("auto"), &window));
  }
  return window;
}

}  // namespace pgle
