// The command's run: signals passed on, stops and continues followed, time limits kept.
#pragma once

#include <chrono>
#include <optional>

#include "capture/capture.h"
#include "capture/capture_plan.h"
#include "capture/child.h"
#include "capture/process_watch.h"
#include "capture/signal_inbox.h"

namespace pgle {

class Session {
 public:
  // `plan` and `watch` are null where the command runs without capture. All must outlive this.
  Session(Child* child, SignalInbox* inbox, CapturePlan* plan, ProcessWatch* watch,
          const CaptureOptions& options, const CaptureListener& listener);

  // Returns once the command has ended.
  void Run();
  // Waits until what processes of the command that outlive it have recorded is complete; not long.
  void CloseWindow();

  int terms() const { return terms_; }  // SIGTERMs that came
  bool timed_out() const { return timed_out_; }

 private:
  using Clock = std::chrono::steady_clock;

  void Wait();
  void Tick();
  void Handle(const signalfd_siginfo& info);
  void Toggle();
  void Terminate(int signal);
  void CheckDeadlines();
  void StopAsWell() const;

  Child& child_;
  SignalInbox& inbox_;
  CapturePlan* plan_;
  ProcessWatch* watch_;
  const CaptureOptions& options_;
  const CaptureListener& listener_;

  std::optional<Clock::time_point> time_limit_, kill_at_;
  std::optional<Clock::time_point> close_limit_;  // a signal waits for the window's end until then
  int delayed_signal_ = 0;
  int toggles_ = 0;
  int terms_ = 0;
  bool timed_out_ = false;
};

}  // namespace pgle
