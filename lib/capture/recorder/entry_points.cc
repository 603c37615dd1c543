// What the CUDA driver and NVTX call when they load the library that CUDA_INJECTION64_PATH and
// NVTX_INJECTION64_PATH name. Nothing else is visible from outside.
#include "capture/recorder/nvtx.h"
#include "capture/recorder/recorder.h"

#define PGLE_ENTRY_POINT extern "C" __attribute__((visibility("default")))

// By libcuda, inside the program's first cuInit(). 1: loaded.
PGLE_ENTRY_POINT int InitializeInjection(void) {
  pgle::recorder::StartRecorder(/*with_cuda=*/true);
  return 1;
}

// By every library of the process that uses NVTX version 3, at its first call. 1: loaded; 0 would
// switch NVTX off in that library for good.
PGLE_ENTRY_POINT int InitializeInjectionNvtx2(
    pgle::recorder::nvtx::GetExportTable get_export_table) {
  pgle::recorder::AttachNvtxClient(get_export_table);
  return 1;
}
