// Signals to the launcher, read instead of handled.
#pragma once

#include <sys/signalfd.h>

#include <csignal>
#include <optional>

#include "base/result.h"

namespace pgle {

class SignalInbox {
 public:
  // Blocks what is read here: SIGCHLD, SIGTSTP, SIGCONT, and all that the command is to get. To be
  // made before there are threads. Errors: the system gives none.
  static Result<SignalInbox> Create();
  SignalInbox(SignalInbox&& other) noexcept;
  SignalInbox& operator=(SignalInbox&&) = delete;
  // What has come is forgotten, and what comes later stays blocked, but for SIGQUIT: the second
  // Ctrl-C of somebody in a hurry must not take the report away.
  ~SignalInbox();

  int fd() const { return fd_; }
  std::optional<signalfd_siginfo> Next();
  const sigset_t& previous_mask() const { return previous_; }

 private:
  SignalInbox() = default;

  int fd_ = -1;
  sigset_t previous_ = {};
};

// True when the terminal (or the kernel) sent it: then the whole foreground group has it, the
// command included.
bool IsFromTerminal(const signalfd_siginfo& info);

}  // namespace pgle
