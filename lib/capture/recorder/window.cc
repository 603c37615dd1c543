#include "capture/recorder/window.h"

#include <cstdio>

#include "capture/recorder/recorder.h"

namespace pgle::recorder {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kArmAhead = 100 * kMillisecond;
// Processes of one launcher learn of a window that another one decided on: time to hear of it and
// arm.
constexpr uint64_t kAgreeAhead = 500 * kMillisecond;
constexpr uint64_t kLaneGrace = 10'000 * kMillisecond;
constexpr uint32_t kSteadyRuns = 5;   // medians of this many intervals are compared
constexpr double kSteadiness = 0.05;  // and differ by no more than this share
constexpr uint32_t kLeastRuns = 10;
constexpr uint32_t kLeastOperations = 4;
constexpr uint64_t kStall = 2'000 * kMillisecond;
// A pause for a checkpoint or an evaluation is none.
constexpr uint64_t kEndlessStall = 600'000 * kMillisecond;

uint64_t StepsIn(uint64_t time, uint64_t interval) {
  return interval == 0 ? 0 : time / interval + 1;
}

}  // namespace

void Window::Init(Recorder* recorder, uint64_t now) {
  recorder_ = recorder;
  settings_ = recorder->page->window;
  loaded_ = now;
  first_ = settings_.first;
  last_ = settings_.last;
  if (settings_.mode == WindowMode::kSteps) recorder->gate.store(first_);
  if (settings_.mode == WindowMode::kAuto && settings_.decide_by_count != 0) {
    recorder->gate.store(Recorder::kGateAtCandidates);
  }
}

bool Window::IsWanted(const Module& module) const {
  if (settings_.has_module_filter != 0) {
    const uint32_t index = recorder_->modules.IndexOf(&module);
    return recorder_->slot->modules[index].verdict.load(std::memory_order_acquire) == Verdict::kYes;
  }
  // What the autotuner tries out is no program, and a step has more operations than a helper such
  // as a conversion of one array, of which there may be hundreds of executions at the start.
  return module.is_program.load(std::memory_order_relaxed) &&
         module.operations.load(std::memory_order_relaxed) >= kLeastOperations;
}

Module* Window::Choose(uint64_t least) const {
  Module* best = nullptr;
  uint64_t most = 0;
  const uint32_t count = recorder_->modules.count();
  for (uint32_t i = 0; i < count; ++i) {
    Module* const module = recorder_->modules.At(i);
    if (module->text.load(std::memory_order_acquire) == nullptr || !IsWanted(*module)) continue;
    const uint64_t begun = module->MaxBegun();
    // A module asked for by name counts even if it has no operation.
    const uint64_t weight = module->Weight() + (begun > 0 ? 1 : 0);
    if (begun >= least && weight > most) {
      most = weight;
      best = module;
    }
  }
  return best;
}

bool Window::IsNear(const Module& module, uint64_t first) const {
  const uint64_t begun = module.MaxBegun();
  if (begun == first) return true;  // waiting at the gate
  const uint64_t ahead = 2 + StepsIn(kArmAhead, module.RecentInterval(0, 3));
  // Never before half of the way: the first intervals say little about the speed.
  return begun + ahead >= first && 2 * begun >= first;
}

bool Window::ShouldArmSteps() {
  // Too early to know modules or their speed: all is recorded from the start on, and cut.
  if (first_ <= 2) return true;
  if (module_ != nullptr) return IsNear(*module_, first_);
  const uint32_t count = recorder_->modules.count();
  for (uint32_t i = 0; i < count; ++i) {
    const Module& module = *recorder_->modules.At(i);
    if (module.text.load(std::memory_order_acquire) == nullptr || !IsWanted(module)) continue;
    if (IsNear(module, first_)) return true;
  }
  return false;
}

// On all ranks alike, whatever their speed: the module waits at its gate for the decision, which
// rests on counts alone.
bool Window::ShouldArmByCount() {
  Module* const module = Choose(1);
  if (module == nullptr) return false;
  const uint32_t at = module->MaxBegun();
  if (!IsCandidate(at)) return false;
  // No new module in the last half of the way.
  const uint32_t known = recorder_->modules.count();
  const uint32_t before =
      module->modules_known[__builtin_ctz(at / 2)].load(std::memory_order_relaxed);
  if (known != before) return false;
  module_ = module;
  first_ = at;
  last_ = at + settings_.count;
  settings_.mode = WindowMode::kSteps;  // decided: from here on as if it had been asked for
  recorder_->gate.store(Recorder::kNoGate);
  snprintf(reason_, sizeof(reason_), "no new module since execution %u", at / 2);
  return true;
}

bool Window::ShouldArmAuto() {
  if (settings_.decide_by_count != 0) return ShouldArmByCount();
  Module* const module = Choose(kLeastRuns);
  if (module == nullptr) return false;
  if (recorder_->page->agreed_first.load(std::memory_order_acquire) != 0) {
    module_ = module;
    return true;
  }
  const uint32_t begun = module->MaxBegun();
  const uint64_t news = recorder_->modules.last_news.load(std::memory_order_relaxed);
  if (module != watched_ || news != news_) {
    watched_ = module;
    news_ = news;
    base_ = begun;
  }
  if (begun >= 10 * settings_.give_up_after) {
    snprintf(reason_, sizeof(reason_),
             "new modules kept coming; recorded anyway after %u executions", begun);
  } else if (begun - base_ >= settings_.give_up_after) {
    snprintf(reason_, sizeof(reason_),
             "step times did not steady in %u executions; recorded anyway", begun - base_);
  } else {
    if (module->StartOf(begun - 1 - kSteadyRuns) <= news) return false;
    const auto late = static_cast<double>(module->RecentInterval(0, kSteadyRuns));
    const auto early = static_cast<double>(module->RecentInterval(kSteadyRuns, kSteadyRuns));
    if (late == 0 || early == 0) return false;
    if (late > early * (1 + kSteadiness) || early > late * (1 + kSteadiness)) return false;
    snprintf(reason_, sizeof(reason_), "step times steady at %.3f ms", late / 1e6);
  }
  module_ = module;
  return true;
}

bool Window::ShouldArm(uint64_t now) {
  switch (settings_.mode) {
    case WindowMode::kSteps:
      return ShouldArmSteps();
    case WindowMode::kAuto:
      return ShouldArmAuto();
    case WindowMode::kTime:
      return now - loaded_ >= settings_.delay_ns;
    case WindowMode::kProfilerApi:
      return recorder_->profiler_starts.load(std::memory_order_relaxed) != 0;
    case WindowMode::kCommand:
      return recorder_->page->command.load(std::memory_order_acquire) == Command::kOpen;
    case WindowMode::kNone:
      return false;
  }
  return false;
}

void Window::FixAutoSteps() {
  const bool has_company = recorder_->page->processes.load(std::memory_order_relaxed) > 1;
  const uint64_t begun = module_->MaxBegun();
  uint64_t first = begun + 1;
  if (has_company) first += StepsIn(kAgreeAhead, module_->RecentInterval(0, kSteadyRuns));
  uint64_t agreed = 0;
  if (!recorder_->page->agreed_first.compare_exchange_strong(agreed, first + 1,
                                                             std::memory_order_acq_rel)) {
    first = agreed - 1;
    snprintf(reason_, sizeof(reason_), "as another process of this command decided");
  }
  first_ = first;
  last_ = first + settings_.count;
}

void Window::OnArmed(uint64_t now) {
  opened_ = now;
  const uint32_t count = recorder_->modules.count();
  for (uint32_t i = 0; i < count; ++i) {
    begun_when_armed_[i] = recorder_->modules.At(i)->MaxBegun();
  }
  if (settings_.mode == WindowMode::kAuto) FixAutoSteps();
  if (module_ != nullptr && module_->MaxBegun() > first_) StartLate();
}

// Activity was not on yet when the first step began: the window starts with the next whole one.
void Window::StartLate() {
  const uint64_t next = uint64_t{module_->MaxBegun()} + 1;
  snprintf(reason_, sizeof(reason_),
           "recording began at execution %llu, behind the first one asked for (%llu)",
           static_cast<unsigned long long>(next), static_cast<unsigned long long>(first_));
  first_ = next;
  is_given_up_ = first_ >= last_;
}

bool Window::HasOpened(uint64_t now) {
  if (settings_.mode != WindowMode::kSteps && settings_.mode != WindowMode::kAuto) return true;
  if (module_ != nullptr) return module_->MaxBegun() > first_;
  // Asked for by number alone. Armed from the start on, modules are only known once one has run
  // often enough.
  const bool is_known = settings_.has_module_filter != 0 || first_ > 2;
  Module* const module = Choose(is_known ? first_ + 1 : last_);
  if (module == nullptr) return false;
  // A helper that runs several times a step comes first to that number: the step is still on its
  // way.
  const Module* const weightiest = Choose(2);
  if (weightiest != nullptr && weightiest != module && !HasStalled(*weightiest, now, 0, kStall))
    return false;
  module_ = module;
  if (begun_when_armed_[recorder_->modules.IndexOf(module_)] <= first_) return true;
  StartLate();
  return false;
}

// Whether a module has not run for a while, longer than its executions are apart.
bool Window::HasStalled(const Module& module, uint64_t now, uint64_t since,
                        uint64_t patience) const {
  const uint64_t begun = module.MaxBegun();
  const uint64_t last = begun == 0 ? 0 : module.StartOf(static_cast<uint32_t>(begun - 1));
  const uint64_t all = patience + 20 * module.RecentInterval(0, 3);
  return now > since + all && now > last + all;
}

bool Window::ReconsidersChoice(uint64_t now) {
  if (settings_.mode != WindowMode::kAuto || module_ == nullptr ||
      !HasStalled(*module_, now, opened_, kStall)) {
    return false;
  }
  uint64_t agreed = first_ + 1;
  recorder_->page->agreed_first.compare_exchange_strong(agreed, 0, std::memory_order_acq_rel);
  module_ = nullptr;
  reason_[0] = '\0';
  return true;
}

bool Window::HasEndedSteps(uint64_t now) {
  bool has_any = false, has_all = true;
  for (const auto& lane : module_->lanes) {
    if (lane.begun.load(std::memory_order_relaxed) == 0) continue;
    const bool has_ended = lane.ended.load(std::memory_order_acquire) >= last_;
    has_any |= has_ended;
    has_all &= has_ended;
  }
  if (has_any && first_lane_ended_ == 0) first_lane_ended_ = now;
  // Activity must not stay on for the rest of a run that has left the module behind.
  if (!has_any && HasStalled(*module_, now, opened_, kEndlessStall)) {
    CutShort("the module stopped running inside the window");
    return true;
  }
  // A device that runs the module no more must not hold up the others.
  return has_any && (has_all || now - first_lane_ended_ >= kLaneGrace);
}

bool Window::HasEnded(uint64_t now) {
  switch (settings_.mode) {
    case WindowMode::kSteps:
    case WindowMode::kAuto:
      return HasEndedSteps(now);
    case WindowMode::kTime:
      // `now` may lie before the opening, which happened in the same round.
      return now > opened_ && now - opened_ >= settings_.duration_ns;
    case WindowMode::kProfilerApi:
      return recorder_->profiler_stops.load(std::memory_order_relaxed) != 0;
    case WindowMode::kCommand:
      return false;  // Command::kClose ends any window
    case WindowMode::kNone:
      return true;
  }
  return true;
}

void Window::CutShort(const char* why) {
  snprintf(reason_, sizeof(reason_), "%s", why);
  if (module_ == nullptr) return;
  const uint64_t begun = module_->MaxBegun();
  if (begun < last_) last_ = begun > first_ ? begun : first_;
}

WindowChange Window::Change(WindowState state, uint64_t now) const {
  WindowChange change;
  change.state = state;
  change.time = now;
  if (module_ != nullptr) {
    const Text* const text = module_->text.load(std::memory_order_acquire);
    change.string = text == nullptr ? 0 : text->id;
    change.first = first_;
    change.last = last_;
  }
  return change;
}

}  // namespace pgle::recorder
