// The CUDA driver, as far as the process has loaded it.
#pragma once

#include <cstdint>

#include "capture/recorder/spill_format.h"

namespace pgle::recorder {

// The ordinal of the calling thread's current context; kNoDevice when there is none or no driver.
uint8_t CurrentDevice();

// Whether the program's first cuInit() has come to its end: we are loaded inside it.
bool DriverIsReady();

uint32_t DriverVersion();  // cuDriverGetVersion(); 0 without a driver

// What is known of the devices that the process sees; returns how many of at most `limit`.
uint32_t DescribeDevices(DeviceInfo* devices, uint32_t limit);

}  // namespace pgle::recorder
