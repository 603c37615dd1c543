#include "cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "io/output.h"

namespace pgle::cli {
namespace {

// Where standard streams are closed, the next file opened would take their number, and messages
// would go into it.
void OpenStandardStreams() {
  int fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = dup(fd);
  if (fd > STDERR_FILENO) close(fd);
}

// Unlike fmt::print, a closed or full standard error is no reason to die.
void PrintError(const std::string& text) {
  fputs(text.c_str(), stderr);
}

// Names come from traces and file systems: control characters must not reach the terminal.
std::string Printable(const std::string& text, bool keep_lines) {
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && !(keep_lines && c == '\n')) || byte == 0x7f) {
      printable += fmt::format("\\x{:02x}", byte);
    } else {
      printable += c;
    }
  }
  return printable;
}

int AnswerAndLeave(const CLI::App& app, const std::string& text) {
  const Status status = PrintAnswer(text);
  if (status.ok()) return 0;
  PrintError(fmt::format("{}: error: {}: {}\n", app.get_name(), status.error().where,
                         status.error().what));
  return static_cast<int>(ExitCode::kFailed);
}

}  // namespace

int Guard(const char* tool, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    PrintError(fmt::format("{}: error: {}\n", tool, Printable(error.what(), false)));
    return static_cast<int>(ExitCode::kFailed);
  }
}

Status PrintAnswer(const std::string& text) {
  return WriteFileAtomically("-", text);
}

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
  OpenStandardStreams();
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error to report, not a reason to die
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return AnswerAndLeave(app, app.help());
  } catch (const CLI::CallForVersion& version) {
    return AnswerAndLeave(app, std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    PrintError(fmt::format("{}: error: {}; --help lists the options\n", app.get_name(),
                           Printable(error.what(), false)));
    return static_cast<int>(ExitCode::kUsage);
  }
  return std::nullopt;
}

Messages::Messages(std::string tool, const CommonOptions& options)
    : tool_(std::move(tool)), options_(options) {
  const char* no_color = getenv("NO_COLOR");
  color_ = options_.color == "always" || (options_.color == "auto" && isatty(STDERR_FILENO) != 0 &&
                                          (no_color == nullptr || *no_color == '\0'));
}

void Messages::Line(const char* kind, const char* color, const std::string& where,
                    const std::string& what, const std::string& hint) const {
  const std::string label =
      color_ ? fmt::format("\x1b[1;{}m{}:\x1b[0m", color, kind) : fmt::format("{}:", kind);
  PrintError(fmt::format("{}: {} {}{}{}{}{}\n", tool_, label, Printable(where, false),
                         where.empty() ? "" : ": ", Printable(what, false),
                         hint.empty() ? "" : "; ", Printable(hint, false)));
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
  if (!options_.quiet) PrintError(Printable(text, true));
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
  const bool is_decimal = text.find_first_not_of("0123456789.%") == std::string::npos;
  if (!is_decimal || end == text.c_str() || (*end != '\0' && std::string(end) != "%") ||
      !in_range) {
    return UsageError(option, fmt::format("'{}' is no share", text), "give a percentage, like 95%");
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
    for (int seconds = 1;
         !state->stop.wait_for(lock, std::chrono::seconds(1), [&] { return state->done; });
         ++seconds) {
      PrintError(fmt::format("\r{} ({} s)\x1b[K", text, seconds));
    }
    PrintError("\r\x1b[K");
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
