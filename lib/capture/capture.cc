#include "capture/capture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "capture/capture_plan.h"
#include "capture/last_signals.h"
#include "capture/outcome.h"
#include "capture/process_watch.h"
#include "capture/session.h"
#include "capture/signal_inbox.h"

namespace pgle {
namespace {

// SIGCHLD may come ignored from a parent, and then nobody could wait for the command. A reader that
// is gone must not kill the launcher at its last words.
void SetActions(InheritedState* inherited) {
  for (const auto& [signal, handler] : {std::pair{SIGCHLD, SIG_DFL}, {SIGPIPE, SIG_IGN}}) {
    struct sigaction action = {}, previous = {};
    action.sa_handler = handler;
    sigaction(signal, &action, &previous);
    inherited->actions.emplace_back(signal, previous);
  }
}

// The command has them: whoever reads or writes at their other ends must see its end, not ours.
void LeaveStandardStreams() {
  const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  dup2(fd, STDIN_FILENO);
  dup2(fd, STDOUT_FILENO);
  if (fd > STDERR_FILENO) close(fd);
}

CaptureReport ReportFor(const CaptureOptions& options, const CaptureHost& host, const Rank& rank) {
  CaptureReport report;
  report.command = options.command;
  report.log_directory = options.log_directory;
  report.host = host.name;
  report.module_pattern = options.module_pattern;
  report.rank = rank;
  report.window = options.window;
  return report;
}

// A file of an earlier run does not count as this one's. It is compared with itself, since the
// clock of a file server may differ from this machine's.
void KeepAutotuneFile(const CapturePlan& plan, CaptureReport* report) {
  if (plan.autotune_file.empty()) return;
  const auto written = ModificationTime(plan.autotune_file);
  if (written && written != plan.autotune_file_before) {
    report->autotune_file = plan.autotune_file;
    return;
  }
  report->diagnostics.Warn(plan.autotune_file,
                           written ? "is of an earlier run: XLA did not write the autotuner's "
                                     "choices"
                                   : "XLA did not write the autotuner's choices",
                           "nothing was compiled, or XLA_FLAGS did not reach the program");
}

void Collect(CapturePlan* plan, ProcessWatch* watch, Session* session, SignalInbox* inbox,
             CaptureReport* report) {
  session->CloseWindow();
  bool kept = false;
  {
    const LastSignals in_a_hurry(inbox, session->terms());
    report->processes = watch->Finish(&report->diagnostics, &kept);
  }
  report->processes_without_slot = plan->control.processes() - plan->control.slots();
  report->no_room = plan->control.page().no_room;
  KeepAutotuneFile(*plan, report);
  JudgeCapture(ReadDriverFacts(), report);
  if (kept && !plan->place.log_directory.empty()) {
    report->kept_directory = plan->place.private_directory;
  } else {
    RemovePrivateDirectory(plan->place);
  }
}

}  // namespace

Result<CaptureReport> Capture(const CaptureOptions& options, const CaptureHost& host,
                              const CaptureListener& listener) {
  const Rank rank = FindRank(host.environment);
  CaptureReport report = ReportFor(options, host, rank);
  Diagnostics before;
  std::optional<CapturePlan> plan;
  if (Result<CapturePlan> made = PlanCapture(options, host, rank, &before); made.ok()) {
    plan.emplace(std::move(*made));
    report.run = plan->place.run;
    report.run_directory = plan->place.run_directory;
  } else if (!options.best_effort || made.error().code == ErrorCode::kUsage) {
    return std::move(made.error());
  } else {
    const Error& error = made.error();
    report.was_tried = false;
    report.failures.push_back(error);
    before.Warn(error.where, error.what + "; the command runs without capture", error.hint);
  }
  if (!before.items().empty()) listener(before);

  InheritedState inherited = host.inherited;
  SetActions(&inherited);
  PGLE_ASSIGN_OR_RETURN(SignalInbox inbox, SignalInbox::Create());
  inherited.mask = inbox.previous_mask();
  const auto start = std::chrono::steady_clock::now();
  int exec_error = 0;
  Result<Child> child = Child::Start(options.command, plan ? plan->environment : host.environment,
                                     inherited, &exec_error);
  if (!child.ok() || exec_error != 0) {
    if (plan) RemovePrivateDirectory(plan->place);
    if (!child.ok()) return std::move(child.error());
    report.exec_error = exec_error;
    report.status = exec_error == ENOENT ? 127 : 126;
    return report;
  }
  report.has_started = true;
  LeaveStandardStreams();
  std::optional<ProcessWatch> watch;
  if (plan) watch.emplace(&*plan, options);
  Session session(&*child, &inbox, plan ? &*plan : nullptr, watch ? &*watch : nullptr, options,
                  listener);
  session.Run();
  report.status = child->status();
  report.signal = child->signal();
  report.timed_out = session.timed_out();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (plan) Collect(&*plan, &*watch, &session, &inbox, &report);
  return report;
}

}  // namespace pgle
