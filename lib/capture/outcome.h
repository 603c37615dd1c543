// Whether a capture is whole, and where it is not, why.
#pragma once

#include <string>
#include <vector>

#include "capture/capture.h"

namespace pgle {

// What the NVIDIA driver says of itself in /proc/driver/nvidia.
struct DriverFacts {
  bool is_visible = false;
  bool admin_only = false;  // profiling is for root alone
};

DriverFacts ReadDriverFacts(const std::string& directory = "/proc/driver/nvidia");

// Fills in `failures`, and adds warnings and notes of what is whole but may surprise.
void JudgeCapture(const DriverFacts& driver, CaptureReport* report);

}  // namespace pgle
