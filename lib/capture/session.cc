#include "capture/session.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cmath>

namespace pgle {
namespace {

using namespace std::chrono_literals;

constexpr auto kTick = 100ms;
constexpr auto kHastyTick = 10ms;  // while somebody waits for the window's end
constexpr auto kCloseLimit = 2s;   // for the last records, before SIGTERM is passed on
constexpr auto kKillAfter = 10s;   // from SIGTERM to SIGKILL, past --timeout

// Somebody watches this process as a job. Else nobody would continue it once it has stopped: a
// batch system continues the command alone.
bool IsJob() {
  if (getpgrp() == getsid(0)) return false;
  const int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

}  // namespace

Session::Session(Child* child, SignalInbox* inbox, CapturePlan* plan, ProcessWatch* watch,
                 const CaptureOptions& options, const CaptureListener& listener)
    : child_(*child),
      inbox_(*inbox),
      plan_(plan),
      watch_(watch),
      options_(options),
      listener_(listener) {
  if (options.timeout_s > 0) {
    time_limit_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options.timeout_s));
  }
}

void Session::Run() {
  while (true) {
    if (child_.Poll()) StopAsWell();
    if (child_.has_ended()) return;
    Wait();
    while (const auto info = inbox_.Next()) Handle(*info);
    Tick();
    CheckDeadlines();
  }
}

void Session::Wait() {
  pollfd descriptor = {inbox_.fd(), POLLIN, 0};
  const auto tick = close_limit_ ? kHastyTick : kTick;
  // Without capture only signals and the time limit matter, and those come by themselves.
  const bool has_work = watch_ != nullptr || time_limit_ || kill_at_;
  poll(&descriptor, 1, has_work ? static_cast<int>(tick.count()) : -1);
}

void Session::Tick() {
  if (watch_ == nullptr) return;
  const Diagnostics said = watch_->Tick();
  if (!said.items().empty()) listener_(said);
}

void Session::Handle(const signalfd_siginfo& info) {
  const int signal = static_cast<int>(info.ssi_signo);
  switch (signal) {
    case SIGCHLD:
      return;
    case SIGTSTP:
      if (!IsFromTerminal(info)) child_.Send(SIGTSTP);
      return;  // once the command has stopped, this process does
    case SIGTERM:
      ++terms_;
      return Terminate(signal);
    case SIGINT:
    case SIGQUIT:
    case SIGWINCH:
      if (IsFromTerminal(info)) return;
      break;
    default:
      break;
  }
  if (plan_ != nullptr && signal == options_.window_signal) return Toggle();
  child_.Send(signal);
}

void Session::Toggle() {
  ++toggles_;
  if (toggles_ <= 2) {
    plan_->control.Command(toggles_ == 1 ? recorder::Command::kOpen : recorder::Command::kClose);
  }
}

// The second of them is passed on at once.
void Session::Terminate(int signal) {
  Tick();  // a window may have opened since the last one
  if (watch_ == nullptr || !watch_->is_recording() || close_limit_) {
    child_.Send(signal);
    close_limit_.reset();
    return;
  }
  plan_->control.Command(recorder::Command::kClose);
  delayed_signal_ = signal;
  close_limit_ = Clock::now() + kCloseLimit;
}

void Session::CheckDeadlines() {
  const auto now = Clock::now();
  if (close_limit_ && (now >= *close_limit_ || !watch_->is_recording())) {
    child_.Send(delayed_signal_);
    close_limit_.reset();
  }
  if (time_limit_ && now >= *time_limit_) {
    time_limit_.reset();
    timed_out_ = true;
    kill_at_ = now + kKillAfter;
    Terminate(SIGTERM);
    child_.Send(SIGCONT);  // a stopped process takes no signal
  }
  if (kill_at_ && now >= *kill_at_) {
    kill_at_.reset();
    child_.Send(SIGKILL);
  }
}

void Session::StopAsWell() const {
  if (!IsJob()) return;
  raise(SIGSTOP);  // the SIGCONT that ends it is passed on
}

void Session::CloseWindow() {
  Tick();
  if (!watch_->is_recording()) return;
  plan_->control.Command(recorder::Command::kClose);
  close_limit_ = Clock::now() + kCloseLimit;
  while (watch_->is_recording() && Clock::now() < *close_limit_) {
    Wait();
    while (inbox_.Next()) {
    }
    Tick();
  }
  close_limit_.reset();
}

}  // namespace pgle
