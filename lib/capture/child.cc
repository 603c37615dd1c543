#include "capture/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pgle {
namespace {

// In the new process: restores what the launcher changed, and becomes the command. Comes back only
// when that fails.
void Become(const std::vector<char*>& arguments, const std::vector<char*>& environment,
            const InheritedState& inherited) {
  for (const auto& [signal, action] : inherited.actions) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
  for (const int stream : inherited.closed_streams) close(stream);
  environ = const_cast<char**>(environment.data());
  execvp(arguments.front(), arguments.data());
}

}  // namespace

Result<Child> Child::Start(const std::vector<std::string>& command, Environment environment,
                           const InheritedState& inherited, int* exec_error) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const std::vector<char*> variables = environment.Pointers();
  // Closed by a successful exec; else the error comes through it.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Failed(command.front(), fmt::format("cannot be started: {}", strerror(errno)));
  }
  const pid_t pid = fork();
  if (pid == 0) {
    Become(arguments, variables, inherited);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(ends[1], &error, sizeof error);
    _exit(127);
  }
  const int fork_error = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return Failed(command.front(), fmt::format("cannot be started: {}", strerror(fork_error)));
  }
  *exec_error = 0;
  ssize_t size = 0;
  do {
    size = read(ends[0], exec_error, sizeof *exec_error);
  } while (size < 0 && errno == EINTR);
  close(ends[0]);
  if (size == sizeof *exec_error) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  } else {
    *exec_error = 0;
  }
  return Child(pid);
}

void Child::Send(int signal) const {
  // Until it is waited for, its id cannot be another's.
  if (!ended_) kill(pid_, signal);
}

bool Child::Poll() {
  if (ended_) return false;
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOHANG) != 0 ||
      info.si_pid == 0) {
    return false;
  }
  if (info.si_code == CLD_STOPPED) return true;
  if (info.si_code == CLD_TRAPPED) return false;
  ended_ = true;
  signal_ = info.si_code == CLD_EXITED ? 0 : info.si_status;
  status_ = signal_ == 0 ? info.si_status : 128 + signal_;
  return false;
}

}  // namespace pgle
