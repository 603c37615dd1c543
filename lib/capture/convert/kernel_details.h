// The texts by which XLA's profiler describes kernels, copies and memsets; XProf parses them.
// Source: XLA, xla/backends/profiler/gpu/cupti_collector.h (ToXStat).
#pragma once

#include <string>
#include <string_view>

#include "capture/recorder/spill_format.h"

namespace pgle {

// Share of a multiprocessor's warps that a kernel can keep resident, in percent, by the rules of
// CUDA's occupancy calculator; 0 when the device is unknown or the kernel does not fit.
double OccupancyPercent(const recorder::KernelRecord& kernel, const recorder::DeviceInfo& device);

// `device` may be null: then without the occupancy.
std::string KernelDetails(const recorder::KernelRecord& kernel, const recorder::DeviceInfo* device);
std::string CopyDetails(const recorder::CopyRecord& copy);
std::string SetDetails(const recorder::SetRecord& set);

// "MemcpyD2D"; by CUPTI's kind of copy.
std::string_view CopyName(uint8_t copy_kind);

}  // namespace pgle
