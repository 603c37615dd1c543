#include "capture/signal_inbox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pgle {
namespace {

sigset_t Wanted() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTSTP, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
                           SIGUSR2, SIGALRM, SIGVTALRM, SIGIO, SIGPWR, SIGWINCH}) {
    sigaddset(&set, signal);
  }
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&set, signal);
  return set;
}

}  // namespace

Result<SignalInbox> SignalInbox::Create() {
  SignalInbox inbox;
  const sigset_t wanted = Wanted();
  sigprocmask(SIG_BLOCK, &wanted, &inbox.previous_);
  inbox.fd_ = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  if (inbox.fd_ >= 0) return inbox;
  const int error = errno;
  sigprocmask(SIG_SETMASK, &inbox.previous_, nullptr);
  return Failed("signalfd", strerror(error));
}

SignalInbox::SignalInbox(SignalInbox&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), previous_(other.previous_) {}

SignalInbox::~SignalInbox() {
  if (fd_ < 0) return;
  while (Next()) {
  }
  close(fd_);
  sigset_t quit;
  sigemptyset(&quit);
  sigaddset(&quit, SIGQUIT);
  sigprocmask(SIG_UNBLOCK, &quit, nullptr);
}

std::optional<signalfd_siginfo> SignalInbox::Next() {
  signalfd_siginfo info = {};
  if (read(fd_, &info, sizeof info) != sizeof info) return std::nullopt;
  return info;
}

bool IsFromTerminal(const signalfd_siginfo& info) {
  return info.ssi_code == SI_KERNEL;
}

}  // namespace pgle
