// What would make a recording fail, found before the command is started.
#pragma once

#include <string>

#include "base/result.h"
#include "capture/environment.h"

namespace pgle {

// Errors: another tool is to be injected (CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH), the
// command would run under nsys, or JAX's own PGLE is on (JAX_ENABLE_PGLE), which makes the program
// itself fail while the recorder holds CUPTI; `disable_auto_pgle` allows that one, for the caller
// to turn it off.
Status CheckEnvironment(const Environment& environment, bool disable_auto_pgle);

// True for values that JAX takes for true.
bool IsJaxTrue(const std::string& value);

// Errors: the recorder is not there.
Status CheckRecorder(const std::string& path);

}  // namespace pgle
