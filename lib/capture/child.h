// The command: started, signalled, waited for.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/environment.h"

namespace pgle {

// What the launcher changed for itself, and the command is to have as it was.
struct InheritedState {
  sigset_t mask = {};
  std::vector<std::pair<int, struct sigaction>> actions;  // of signals
  std::vector<int> closed_streams;                        // standard streams that were closed
};

class Child {
 public:
  // In the process group of the caller, so that what a terminal sends reaches both. Looks the
  // command up in the PATH of `environment`.
  // Returns an exec error's errno in `exec_error`. Errors: no process or pipe can be made.
  static Result<Child> Start(const std::vector<std::string>& command, Environment environment,
                             const InheritedState& inherited, int* exec_error);

  pid_t pid() const { return pid_; }
  bool has_ended() const { return ended_; }
  // The exit status; 128 plus the signal's number when it was killed.
  int status() const { return status_; }
  int signal() const { return signal_; }  // that killed it, or 0

  void Send(int signal) const;
  // Looks, without waiting, whether it has ended or stopped. True once when it has stopped.
  bool Poll();

 private:
  explicit Child(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  bool ended_ = false;
  int status_ = 0;
  int signal_ = 0;
};

}  // namespace pgle
