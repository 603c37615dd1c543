// The planes of the run that hold events, as XLA's profiler writes them and XProf reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "capture/convert/capture_window.h"
#include "capture/convert/device_rows.h"
#include "capture/convert/range_meanings.h"
#include "capture/convert/spill_reader.h"
#include "capture/convert/timeline.h"
#include "trace/xspace_writer.h"

namespace pgle {

struct CaptureTables {
  const Recording& spill;
  const RangeMeanings& ranges;
  const Timeline& timeline;
  const CaptureWindow& window;
  const DeviceRows& rows;
  uint64_t start_ns;                 // of the profile: times are written from here on
  const std::vector<bool>& has_hlo;  // by module: its HLO stands in the run
};

// Times that XSpace cannot hold, beyond 106 days, are cut there: a damaged recording's.
inline Picoseconds ToPicoseconds(uint64_t nanoseconds) {
  constexpr uint64_t kMost = INT64_MAX / kPicosecondsPerNanosecond;
  return static_cast<Picoseconds>(nanoseconds < kMost ? nanoseconds : kMost) *
         kPicosecondsPerNanosecond;
}

// One plane "/device:GPU:N" for each device that has rows; a line a stream, and further ones where
// its rows overlap.
Status WriteDevicePlanes(const CaptureTables& tables, XSpaceWriter* space);

// "/host:CPU": on each thread the executions of modules, and the launches outside of any, each with
// the device_id and correlation_id by which XProf joins it to what the device did. Correlation ids
// count these host events: CUPTI's own would name every launch, and be most of the file. A line of
// steps is the root from which XProf groups all of it by step.
Status WriteHostPlane(const CaptureTables& tables, XSpaceWriter* space);

// "/host:__ScopeRangeCallStack__": which scope lies in which. XProf takes the kernels of an
// execution for separate ones where their scopes differ and nothing joins them.
Status WriteScopePlane(const CaptureTables& tables, XSpaceWriter* space);

}  // namespace pgle
