// Signals that come after the command has ended, while its last records are converted.
#pragma once

#include <thread>

#include "capture/signal_inbox.h"

namespace pgle {

// While it lives, SIGQUIT and the second SIGTERM (`terms` of them came before) end this process at
// once. What was recorded stays where --recover finds it. What was pending before is forgotten: it
// went to the command too.
class LastSignals {
 public:
  LastSignals(SignalInbox* inbox, int terms);
  LastSignals(const LastSignals&) = delete;
  LastSignals& operator=(const LastSignals&) = delete;
  ~LastSignals();

 private:
  void Watch(int terms);

  SignalInbox& inbox_;
  int stop_ = -1;  // readable once the thread is to end
  std::thread thread_;
};

}  // namespace pgle
