// Which records belong to the run: those of whole executions, not those that happen to lie between
// two times.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "capture/convert/timeline.h"

namespace pgle {

class CaptureWindow {
 public:
  CaptureWindow(const Recording& spill, const RangeMeanings& ranges, const Timeline& timeline);

  bool has_opened() const { return has_opened_; }
  bool is_closed() const { return is_closed_; }  // and all records had arrived
  bool counts_steps() const { return string_ != 0; }
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }
  uint32_t module() const { return module_; }  // whose executions are the steps; kNone
  // When the recorder had turned activity on, and when it saw the window open and end. ns
  uint64_t armed() const { return armed_; }
  uint64_t opened() const { return open_; }
  uint64_t closing() const { return close_; }
  // From the begin of the first execution to the end of the last, over all devices; of a window by
  // time its opening and closing. ns; the end is UINT64_MAX when the window never closed.
  uint64_t begin() const { return all_.begin; }
  uint64_t end() const { return all_.end; }
  const std::string& reason() const { return reason_; }

  // Of the chosen module, exactly the executions [first, last) of each device. Everything else by
  // the time of its launch: from the begin of the device's first such execution to the begin of the
  // one behind the last (or, where there is none, the last one's end).
  // `launch` is null where the record has none; its own start counts then.
  bool Holds(const Launch* launch, uint32_t device, uint64_t start) const;
  // Whether an execution is one of the window's steps.
  bool HoldsRun(const ModuleRun& run) const;

 private:
  struct Span {
    uint64_t begin = 0, end = 0;
  };
  bool IsChosen(const ModuleRun& run) const { return string_ != 0 && run.string == string_; }

  const Timeline& timeline_;
  bool has_opened_ = false, is_closed_ = false;
  uint32_t string_ = 0;
  uint32_t module_ = kNone;
  uint64_t first_ = 0, last_ = UINT64_MAX;
  uint64_t armed_ = 0, open_ = 0, close_ = UINT64_MAX;
  std::string reason_;
  std::map<uint32_t, Span> spans_;  // by device
  Span all_;
};

}  // namespace pgle
