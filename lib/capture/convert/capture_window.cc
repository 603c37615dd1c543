#include "capture/convert/capture_window.h"

#include <algorithm>

namespace pgle {

using recorder::WindowState;

CaptureWindow::CaptureWindow(const Recording& spill, const RangeMeanings& ranges,
                             const Timeline& timeline)
    : timeline_(timeline) {
  for (const SpillWindowChange& entry : spill.window) {
    const recorder::WindowChange& change = entry.change;
    if (!entry.reason.empty() && change.state <= WindowState::kOpen) reason_ = entry.reason;
    switch (change.state) {
      case WindowState::kArmed:
        armed_ = change.time;
        break;
      case WindowState::kOpen:
        has_opened_ = true;
        open_ = change.time;
        close_ = UINT64_MAX;
        string_ = change.string;
        first_ = change.first;
        if (change.last > change.first) last_ = change.last;
        break;
      case WindowState::kClosing:
        close_ = change.time;
        if (string_ != 0 && change.last > first_) last_ = change.last;
        break;
      case WindowState::kClosed:
        is_closed_ = has_opened_;
        break;
    }
  }
  if (armed_ == 0) armed_ = open_;
  if (string_ == 0) {
    all_ = {open_, close_};
    return;
  }
  module_ = ranges.ModuleOfString(string_);
  for (const ModuleRun& run : timeline.runs) {
    if (!IsChosen(run) || run.index < first_) continue;
    Span& span = spans_.try_emplace(run.device, Span{UINT64_MAX, 0}).first->second;
    if (run.index < last_) {
      span.begin = std::min(span.begin, run.begin);
      span.end = std::max(span.end, run.end == 0 ? close_ : run.end);
    }
  }
  for (const ModuleRun& run : timeline.runs) {
    if (IsChosen(run) && run.index == last_) spans_[run.device].end = run.begin;
  }
  all_ = {UINT64_MAX, 0};
  if (close_ == UINT64_MAX) {  // killed inside the window
    for (auto& [device, span] : spans_) span.end = UINT64_MAX;
  }
  for (const auto& [device, span] : spans_) {
    all_.begin = std::min(all_.begin, span.begin);
    all_.end = std::max(all_.end, span.end);
  }
}

bool CaptureWindow::HoldsRun(const ModuleRun& run) const {
  if (!has_opened_) return false;
  if (string_ == 0) return run.begin >= open_ && run.begin < close_;
  return IsChosen(run) && run.index >= first_ && run.index < last_;
}

bool CaptureWindow::Holds(const Launch* launch, uint32_t device, uint64_t start) const {
  if (!has_opened_) return false;
  if (launch != nullptr && launch->run != kNone && string_ != 0) {
    const ModuleRun& run = timeline_.runs[launch->run];
    if (IsChosen(run)) return HoldsRun(run);
  }
  const uint64_t time = launch != nullptr ? launch->time : start;
  const auto it = spans_.find(device);
  const Span& span = it != spans_.end() ? it->second : all_;
  return time >= span.begin && time < span.end;
}

}  // namespace pgle
