// When to record: decides from what the callbacks counted. Of the control thread alone; makes no
// call into CUPTI.
#pragma once

#include <cstdint>

#include "capture/recorder/control_page.h"
#include "capture/recorder/module_table.h"
#include "capture/recorder/spill_format.h"

namespace pgle::recorder {

struct Recorder;

class Window {
 public:
  void Init(Recorder* recorder, uint64_t now);

  // Waiting: whether activity is to be turned on now. It takes milliseconds, so this comes some
  // steps ahead of the window.
  bool ShouldArm(uint64_t now);
  // Activity is on: fixes the first step where that was not asked for.
  void OnArmed(uint64_t now);
  // Armed: whether the window's first step has begun.
  bool HasOpened(uint64_t now);
  // Armed for a module that has stopped running (an initialisation that looked like steps): the
  // choice is open again, and ShouldArm() is to be asked once more.
  bool ReconsidersChoice(uint64_t now);
  // Open: whether its last step was dispatched on all devices.
  bool HasEnded(uint64_t now);

  // The window ends before its last step: what has begun is its end.
  void CutShort(const char* why);
  // Nanoseconds between executions of the chosen module; 0 if unknown.
  uint64_t interval() const { return module_ == nullptr ? 0 : module_->RecentInterval(0, 3); }

  // Whether records of launches before the opening are cut anyway, so that they need not be kept.
  bool starts_with_step() const {
    return settings_.mode == WindowMode::kAuto ||
           (settings_.mode == WindowMode::kSteps && first_ > 2);
  }

  // What to write when the state changes. The reason says how the window came about, for people.
  WindowChange Change(WindowState state, uint64_t now) const;
  const char* reason() const { return reason_; }
  // One window a process: another chance is not given.
  bool is_given_up() const { return is_given_up_; }

 private:
  bool IsWanted(const Module& module) const;
  // The wanted module of greatest weight that has begun `least` executions or more; null if there
  // is none.
  Module* Choose(uint64_t least) const;
  bool IsNear(const Module& module, uint64_t first) const;
  bool HasStalled(const Module& module, uint64_t now, uint64_t since, uint64_t patience) const;
  bool ShouldArmSteps();
  bool ShouldArmAuto();
  bool ShouldArmByCount();
  void FixAutoSteps();
  void StartLate();
  bool HasEndedSteps(uint64_t now);

  Recorder* recorder_ = nullptr;
  WindowSettings settings_;
  uint64_t loaded_ = 0, opened_ = 0, first_lane_ended_ = 0;
  Module* module_ = nullptr;
  uint64_t first_ = 0, last_ = 0;
  uint32_t begun_when_armed_[kMaxModules] = {};
  bool is_given_up_ = false;
  // kAuto: the chosen module's executions when there last was news, to give up by.
  Module* watched_ = nullptr;
  uint64_t news_ = 0;
  uint32_t base_ = 0;
  char reason_[160] = {};
};

}  // namespace pgle::recorder
