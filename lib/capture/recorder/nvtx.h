// Receives NVTX ranges: every library of the process that uses NVTX gets its tables filled in, and
// the ranges of XLA's domain become each thread's stack.
#pragma once

#include <cstdint>

#include "capture/recorder/nvtx_abi.h"

namespace pgle::recorder {

// Fills in one client's tables. False when it is of a version that is not known.
bool AttachNvtxClient(nvtx::GetExportTable get_export_table);

// How many libraries were attached so far.
uint32_t NvtxClients();

}  // namespace pgle::recorder
