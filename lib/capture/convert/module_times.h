// How often each module ran, and how long its steps took.
#pragma once

#include <vector>

#include "capture/convert/capture_window.h"
#include "capture/convert/convert.h"
#include "capture/convert/range_meanings.h"
#include "capture/convert/timeline.h"

namespace pgle {

// Of times in nanoseconds; percentiles are nearest ranks.
StepTimes SummarizeSteps(std::vector<uint64_t> times);

// By number in `ranges`; shares of device time and HLO are left for the caller to fill in.
std::vector<ModuleRuns> TimeModules(const RangeMeanings& ranges, const Timeline& timeline,
                                    const CaptureWindow& window);

}  // namespace pgle
