#include "cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace pgle::cli {

void AddCommonOptions(CLI::App& app, CommonOptions* options) {
  app.add_flag("-q,--quiet", options->quiet, "Print warnings and errors only");
  app.add_flag("-v,--verbose", options->verbose, "List everything that the report cuts");
  app.add_option("--color", options->color, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""))
      ->type_name("WHEN");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("-V,--version", std::string(app.get_name() + " " PGLE_VERSION),
                       "Print the version");
  app.get_formatter()->column_width(38);
}

std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error to report, not a reason to die
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return 0;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "{}: error: {}\n{}: note: --help lists the options\n", app.get_name(),
               error.what(), app.get_name());
    return static_cast<int>(ExitCode::kUsage);
  }
  return std::nullopt;
}

Messages::Messages(std::string tool, const CommonOptions& options)
    : tool_(std::move(tool)), options_(options) {
  const char* no_color = getenv("NO_COLOR");
  color_ = options_.color == "always" ||
           (options_.color == "auto" && isatty(STDERR_FILENO) != 0 &&
            (no_color == nullptr || *no_color == '\0'));
}

void Messages::Line(const char* kind, const char* color, const std::string& where,
                    const std::string& what, const std::string& hint) const {
  const std::string label = color_ ? fmt::format("\x1b[1;{}m{}:\x1b[0m", color, kind)
                                   : fmt::format("{}:", kind);
  fmt::print(stderr, "{}: {} {}{}{}{}{}\n", tool_, label, where, where.empty() ? "" : ": ", what,
             hint.empty() ? "" : "; ", hint);
}

int Messages::Fail(const Error& error) const {
  Line("error", "31", error.where, error.what, error.hint);
  return static_cast<int>(ExitCodeFor(error.code));
}

void Messages::Print(const Diagnostics& diagnostics) const {
  for (const Diagnostic& item : diagnostics.items()) {
    if (item.severity == Diagnostic::Severity::kWarning) {
      Line("warning", "35", item.where, item.what, item.hint);
    } else if (!options_.quiet) {
      Line("note", "36", item.where, item.what, item.hint);
    }
  }
}

void Messages::Report(const std::string& text) const {
  if (!options_.quiet) fmt::print(stderr, "{}", text);
}

Status CheckBinaryOutput(const std::string& path) {
  if (path == "-" && isatty(STDOUT_FILENO) != 0) {
    return UsageError("-o -", "will not write a binary profile to a terminal",
                      "redirect standard output, or name a file");
  }
  return {};
}

Result<double> ParseShare(const std::string& option, const std::string& text, double limit) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  const bool percent = *end == '%' || value > 1;
  const bool in_range = value >= 0 && value <= limit;  // false for nan
  if (end == text.c_str() || (*end != '\0' && std::string(end) != "%") || !in_range) {
    return UsageError(option, fmt::format("'{}' is no share", text),
                      "give a percentage, like 95%");
  }
  return percent ? value / 100 : value;
}

std::string SpoolDirectory() {
  const char* directory = getenv("TMPDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/tmp";
}

struct Progress::State {
  std::mutex mutex;
  std::condition_variable stop;
  bool done = false;
  std::thread thread;
};

Progress::Progress(const CommonOptions& options, std::string text) {
  if (options.quiet || isatty(STDERR_FILENO) == 0) return;
  state_ = std::make_unique<State>();
  state_->thread = std::thread([state = state_.get(), text = std::move(text)] {
    std::unique_lock lock(state->mutex);
    for (int seconds = 1; !state->stop.wait_for(lock, std::chrono::seconds(1),
                                                [&] { return state->done; });
         ++seconds) {
      fmt::print(stderr, "\r{} ({} s)\x1b[K", text, seconds);
    }
    fmt::print(stderr, "\r\x1b[K");
  });
}

Progress::~Progress() {
  if (state_ == nullptr) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->done = true;
  }
  state_->stop.notify_one();
  state_->thread.join();
}

}  // namespace pgle::cli
