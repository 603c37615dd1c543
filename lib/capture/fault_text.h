// What a recorder's fault means, and what to do.
#pragma once

#include "base/result.h"
#include "capture/capture.h"
#include "capture/outcome.h"

namespace pgle {

// `process`: one whose fault is not kNone.
Error DescribeFault(const ProcessReport& process, const DriverFacts& driver);

// 120300 or 26 as "CUPTI 12.3"-like text; CUPTI's numbers are 1 to 28 up to CUDA 12, then xxyyzz.
std::string FormatCuptiVersion(uint32_t version);

}  // namespace pgle
