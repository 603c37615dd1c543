// The two libraries of the fake program that emit NVTX ranges, each through NVTX's own headers and
// so with an injection of its own, as XLA's plugin and NCCL do.
#pragma once

#define PGLE_SHOWN extern "C" __attribute__((visibility("default")))

// XLA's plugin, domain "TSL". Without an injection that takes ranges XLA emits none; then these do
// nothing.
PGLE_SHOWN void fakeXlaPush(const char* text);       // a registered string with a payload
PGLE_SHOWN void fakeXlaPushPlain(const char* text);  // a text that is valid during the call alone
PGLE_SHOWN void fakeXlaPop();

// NCCL, domain "NCCL".
PGLE_SHOWN void fakeNcclPush(const char* text);
PGLE_SHOWN void fakeNcclPop();
