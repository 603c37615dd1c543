// pgle-capture: runs a command, records its GPU work by HLO op, and leaves an XSpace run directory.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "capture/capture.h"
#include "capture/preflight.h"
#include "capture/recover.h"
#include "capture/report.h"
#include "capture/run_name.h"
#include "capture/window_options.h"
#include "cli.h"
#include "io/output.h"

namespace pgle {
namespace {

constexpr const char* kTool = "pgle-capture";

// As env and timeout: the statuses below 125 are the command's.
constexpr int kTimedOut = 124;
constexpr int kCaptureFailed = 125;

constexpr const char* kExamples = R"(Examples:
  pgle-capture -o logs -- python train.py
      five steps, once compilation is over and steps are steady
  srun pgle-capture -o logs --steps 20:25 --module train_step -- python train.py
      the same steps on all ranks, into one run directory
  pgle-capture --times --json times.json -- python train.py
      step times alone
pgle-capture(1) tells the rest.)";

// The command is no option, and CLI11 does not know of it.
class UsageWithCommand : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("Usage: {} [OPTIONS] -- COMMAND [ARG...]\n", kTool);
  }
};

struct Arguments {
  CaptureOptions capture;
  WindowOptions window;
  std::string output, json, recover;
  bool no_hlo = false;
};

void AddOptions(CLI::App& app, Arguments* args) {
  CaptureOptions& capture = args->capture;
  WindowOptions& window = args->window;
  app.add_option("-o,--output", args->output, "Log directory that the run goes into")
      ->type_name("LOGDIR");
  app.add_option("--steps", window.steps,
                 "Executions A to B-1 of a module; auto:N (5): N once they are steady")
      ->type_name("A:B|auto[:N]");
  app.add_option("--module", capture.module_pattern, "Count steps of a module that matches")
      ->type_name("RE");
  app.add_option("--delay", window.delay_s, "Record from S seconds after CUDA is first used")
      ->type_name("S");
  app.add_option("--duration", window.duration_s, "... for S seconds")->type_name("S");
  app.add_flag("--profiler-api", window.profiler_api,
               "Record from cudaProfilerStart to cudaProfilerStop");
  app.add_option("--on-signal", window.signal,
                 "Record from the first SIG to pgle-capture to the second")
      ->type_name("SIG");
  app.add_option("--run", capture.run, "Name of the run: the job's, or the time")
      ->type_name("NAME");
  app.add_flag("--times", window.times, "No kernels: only when modules ran, see --json");
  app.add_flag("--no-hlo", args->no_hlo, "Do not make XLA dump its HLO: leave XLA_FLAGS alone");
  app.add_option("--pin-autotune", capture.autotune_directory,
                 "Keep the autotuner's choices there, for later runs")
      ->type_name("DIR");
  app.add_option("--timeout", capture.timeout_s, "End the command after S seconds: status 124")
      ->check(CLI::Range(0.0, 1e8).description(""))
      ->type_name("S");
  app.add_option("--buffer-size", capture.memory_mb, "Memory for records in each process (256)")
      ->check(CLI::Range(8, 65536).description(""))
      ->type_name("MB");
  app.add_flag("--compress", capture.compress, "Write .xplane.pb.zst");
  app.add_flag("--best-effort", capture.best_effort,
               "The command's own status, and it runs, whatever becomes of the capture");
  app.add_flag("--disable-auto-pgle", capture.disable_auto_pgle,
               "Set JAX_ENABLE_PGLE=false where it is on");
  app.add_option("--json", args->json, "Write the report as JSON; %r rank, %h host, %p process id")
      ->type_name("FILE");
  app.add_option("--recover", args->recover,
                 "Instead of a command: convert what a killed capture left there")
      ->type_name("PATH");
}

Status Interpret(const CLI::App& app, Arguments* args) {
  CaptureOptions& capture = args->capture;
  for (const std::string& word : app.remaining()) {
    if (word.starts_with("-"))
      return UsageError(word, "no such option", "--help lists the options");
    return UsageError(word, "stands before --",
                      "the command begins behind it: pgle-capture -o LOGDIR -- COMMAND");
  }
  if (app.count("--recover") > 0) {
    if (args->recover.empty()) {
      return UsageError("--recover", "the path is empty", "give what a killed capture left");
    }
    if (capture.command.empty()) return {};
    return UsageError("--recover", "takes no command", "leave one of them out");
  }
  if (capture.command.empty() || capture.command.front().empty()) {
    return UsageError("", "no command", "give it behind --: pgle-capture -o LOGDIR -- COMMAND");
  }
  PGLE_ASSIGN_OR_RETURN(capture.window, ParseWindow(args->window));
  if (args->window.signal) {
    PGLE_ASSIGN_OR_RETURN(capture.window_signal, ParseSignal("--on-signal", *args->window.signal));
  }
  if (args->output.empty() && capture.has_window()) {
    return UsageError("", "nowhere to write the run", "give -o LOGDIR");
  }
  if (std::isnan(capture.timeout_s)) {
    return UsageError("--timeout", "nan is no time in seconds", "give a number");
  }
  if (app.count("--json") > 0 && args->json.empty()) {
    return UsageError("--json", "the name is empty", "name a file");
  }
  if (args->json == "-") {
    return UsageError("--json", "standard output belongs to the command", "name a file");
  }
  std::error_code error;
  if (!args->output.empty()) {
    capture.log_directory = std::filesystem::absolute(args->output, error).lexically_normal();
    // "logs/" is "logs".
    if (capture.log_directory.size() > 1 && capture.log_directory.back() == '/') {
      capture.log_directory.pop_back();
    }
  }
  capture.with_hlo = !args->no_hlo;
  return {};
}

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) != 0 || name[0] == '\0') return "localhost";
  return name;
}

// Installed beside the tools; they may be called through links.
std::string RecorderPath() {
  std::error_code error;
  const std::filesystem::path tool = std::filesystem::read_symlink("/proc/self/exe", error);
  return (tool.parent_path() / "../lib/pgle/libpgle_recorder.so").lexically_normal();
}

// Not after hours of training: whether the report can be written where it is to go.
Status PrepareReport(const std::string& json) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(json, error);
  if (std::filesystem::is_directory(path, error)) {
    return UsageError("--json", json + " is a directory", "name a file");
  }
  std::filesystem::create_directories(path.parent_path(), error);
  if (!error && access(path.parent_path().c_str(), W_OK | X_OK) == 0) return {};
  return Failed(json,
                fmt::format("cannot be written: {}", error ? error.message() : strerror(errno)),
                "give another file with --json");
}

CaptureHost HostFacts(InheritedState inherited) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return {HostName(), cli::SpoolDirectory(), RecorderPath(), Environment(std::move(entries)),
          std::move(inherited)};
}

std::string StartError(const CaptureReport& report) {
  return report.exec_error == ENOENT
             ? "not found"
             : fmt::format("cannot be run: {}", strerror(report.exec_error));
}

int StatusOf(const CaptureReport& report, bool best_effort) {
  const int status = report.timed_out ? kTimedOut : report.status;
  return status == 0 && !report.failures.empty() && !best_effort ? kCaptureFailed : status;
}

// Everything that is said at the end; returns the exit status.
int Finish(const CaptureReport& report, const std::string& json, bool best_effort,
           const cli::Messages& messages) {
  CaptureContext context{PGLE_VERSION, StatusOf(report, best_effort), messages.options().verbose};
  Status written;
  if (!json.empty()) {
    written = WriteFileAtomically(json, FormatCaptureJson(report, context));
    if (!written.ok() && context.exit_status == 0 && !best_effort) {
      context.exit_status = kCaptureFailed;
    }
  }
  messages.Print(report.diagnostics);
  messages.Report(FormatCaptureText(report, context));
  if (report.timed_out) {
    Diagnostics late;
    late.Warn(report.command.front(),
              fmt::format("ended after {:.1f} s: --timeout", report.seconds));
    messages.Print(late);
  }
  if (report.exec_error != 0) messages.Fail(Failed(report.command.front(), StartError(report)));
  if (report.was_tried) {
    for (const Error& error : report.failures) messages.Fail(error);
  }
  if (!written.ok()) messages.Fail(written.error());
  return context.exit_status;
}

int RecoverInto(const Arguments& args, const cli::Messages& messages) {
  RecoverOptions options{args.recover, args.output, args.capture.run, args.capture.compress};
  if (!options.log_directory.empty()) {
    options.log_directory = std::filesystem::absolute(options.log_directory).lexically_normal();
  }
  const Result<CaptureReport> report = Recover(options, HostName());
  if (!report.ok()) {
    messages.Fail(report.error());
    return kCaptureFailed;
  }
  return Finish(*report, args.json, false, messages);
}

int RunCommand(Arguments* args, const cli::Messages& messages, InheritedState inherited) {
  const CaptureHost host = HostFacts(std::move(inherited));
  if (!args->json.empty()) {
    auto json = ExpandPath("--json", args->json, host.name, FindRank(host.environment), getpid());
    if (!json.ok()) {
      messages.Fail(json.error());
      return kCaptureFailed;
    }
    args->json = std::move(*json);
    if (const Status status = PrepareReport(args->json); !status.ok()) {
      messages.Fail(status.error());
      if (!args->capture.best_effort) return kCaptureFailed;
    }
  }
  if (args->window.times && !args->output.empty()) {
    Diagnostics unused;
    unused.Warn("-o", "--times writes no run", "--json FILE keeps the times");
    messages.Print(unused);
  }
  const CaptureListener listener = [&](const Diagnostics& said) { messages.Print(said); };
  const Result<CaptureReport> report = Capture(args->capture, host, listener);
  if (!report.ok()) {
    messages.Fail(report.error());
    return kCaptureFailed;
  }
  return Finish(*report, args->json, args->capture.best_effort, messages);
}

// What parsing is about to change, and the command is to have as it is.
InheritedState RememberState() {
  InheritedState state;
  struct sigaction action = {};
  sigaction(SIGXFSZ, nullptr, &action);
  state.actions.emplace_back(SIGXFSZ, action);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) state.closed_streams.push_back(stream);
  }
  return state;
}

int Run(int argc, char** argv) {
  InheritedState inherited = RememberState();
  Arguments args;
  cli::CommonOptions common;
  CLI::App app(
      "Runs a training program and records its kernels by HLO op, command buffers included, for\n"
      "pgle-extract and XProf. No change to the program. Its exit status is the program's.",
      kTool);
  app.formatter(std::make_shared<UsageWithCommand>());
  app.allow_extras();
  AddOptions(app, &args);
  cli::AddCommonOptions(app, &common);
  app.footer(kExamples);
  int own = 1;
  while (own < argc && std::string_view(argv[own]) != "--") ++own;
  for (int i = own + 1; i < argc; ++i) args.capture.command.emplace_back(argv[i]);
  if (const std::optional<int> status = cli::Parse(app, own, argv)) {
    return *status == 0 ? 0 : kCaptureFailed;
  }
  const cli::Messages messages(kTool, common);
  try {
    if (const Status status = Interpret(app, &args); !status.ok()) {
      messages.Fail(status.error());
      return kCaptureFailed;
    }
    return args.recover.empty() ? RunCommand(&args, messages, std::move(inherited))
                                : RecoverInto(args, messages);
  } catch (const std::exception& error) {
    messages.Fail(Failed("", error.what()));
    return kCaptureFailed;
  }
}

}  // namespace
}  // namespace pgle

int main(int argc, char** argv) {
  return pgle::Run(argc, argv);
}
