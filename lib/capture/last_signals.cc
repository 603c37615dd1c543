#include "capture/last_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>

namespace pgle {
namespace {

// As if it had never been blocked, for the status that a shell or a batch system sees.
void DieOf(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  raise(signal);  // to this thread, where it waits for the next line
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace

LastSignals::LastSignals(SignalInbox* inbox, int terms) : inbox_(*inbox) {
  while (inbox_.Next()) {
  }
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (stop_ >= 0) thread_ = std::thread([this, terms] { Watch(terms); });
}

LastSignals::~LastSignals() {
  if (stop_ < 0) return;
  eventfd_write(stop_, 1);
  thread_.join();
  close(stop_);
}

void LastSignals::Watch(int terms) {
  pollfd descriptors[] = {{inbox_.fd(), POLLIN, 0}, {stop_, POLLIN, 0}};
  while (true) {
    poll(descriptors, 2, -1);
    if (descriptors[1].revents != 0) return;
    while (const auto info = inbox_.Next()) {
      const int signal = static_cast<int>(info->ssi_signo);
      if (signal == SIGQUIT || (signal == SIGTERM && ++terms > 1)) DieOf(signal);
    }
  }
}

}  // namespace pgle
