#include "capture/fault_text.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>

namespace pgle {
namespace {

using recorder::Fault;

// The text of the recorder behind a sentence of ours, where it has one.
std::string With(const std::string& sentence, const ProcessReport& process) {
  return process.fault_text.empty() ? sentence : sentence + ": " + process.fault_text;
}

}  // namespace

std::string FormatCuptiVersion(uint32_t version) {
  // NVIDIA: CUPTI_API_VERSION, from cupti_version.h of each release.
  constexpr std::pair<uint32_t, const char*> kOld[] = {
      {28, "12.9.1"}, {27, "12.9"}, {26, "12.8"}, {24, "12.6"}, {23, "12.5"},
      {22, "12.4"},   {21, "12.3"}, {20, "12.2"}, {19, "12.0"}, {18, "11.8"}};
  if (version == 0) return "unknown";
  if (version >= 130000) {
    const uint32_t patch = version % 100;
    return fmt::format("{}.{}{}", version / 10000, version / 100 % 100,
                       patch == 0 ? "" : "." + std::to_string(patch));
  }
  for (const auto& [number, name] : kOld) {
    if (version >= number) return name;
  }
  return fmt::format("older than 11.8 (API {})", version);
}

Error DescribeFault(const ProcessReport& process, const DriverFacts& driver) {
  const std::string where = fmt::format("process {}", process.pid);
  switch (process.fault) {
    case Fault::kNoCupti:
      return Failed(
          where, With("libcupti cannot be loaded", process),
          "pip install nvidia-cuda-cupti-cu12 (CUDA 12) or nvidia-cuda-cupti (CUDA 13), or "
          "set PGLE_CUPTI_PATH to a libcupti.so");
    case Fault::kUnknownCupti:
      return Failed(where,
                    With(fmt::format("CUPTI {} is not known",
                                     FormatCuptiVersion(static_cast<uint32_t>(process.code))),
                         process),
                    "12.0 to 13.x are; PGLE_CUPTI_PATH names another copy");
    case Fault::kSubscriberTaken:
      return Failed(
          where, With("CUPTI is held by another tool (error 39)", process),
          "end it first: nsys, ncu, DCGM's profiling metrics, jax.profiler in the program, "
          "or JAX_ENABLE_PGLE");
    case Fault::kPrivileges:
      return Failed(
          where, With("the driver refuses this user (CUPTI error 35)", process),
          driver.admin_only
              ? "/proc/driver/nvidia/params has RmProfilingAdminOnly: 1; run as root, or load the "
                "module nvidia with NVreg_RestrictProfilingToAdminUsers=0"
              : "run as root, or load the module nvidia with "
                "NVreg_RestrictProfilingToAdminUsers=0; a container needs CAP_SYS_ADMIN");
    case Fault::kCuptiCall:
      return Failed(where,
                    With(fmt::format("a call of CUPTI failed (error {})", process.code), process),
                    "see whether it happens with other versions of CUPTI and the driver");
    case Fault::kSpill:
      return Failed(
          where,
          With(fmt::format("records cannot be written ({})", strerror(process.code)), process),
          "make room, or give a directory on another disk with -o");
    case Fault::kLayout:
      return Failed(where, With("CUPTI's records do not look as they should", process),
                    "this version of CUPTI is not known; PGLE_CUPTI_PATH names another copy");
    case Fault::kNoMemory:
      return Failed(
          where, With(fmt::format("no memory for records ({})", strerror(process.code)), process),
          "the address space is limited (ulimit -v), or the system does not overcommit "
          "(vm.overcommit_memory is 2): raise the limit, or give a smaller --buffer-size");
    case Fault::kFlushTimeout:
      return Failed(where, With("CUPTI did not hand out its last records in time", process),
                    "the end of the window may lack kernels; record fewer steps");
    case Fault::kWindowMissed:
      return Failed(where, With("the window never opened", process), "give earlier steps");
    case Fault::kNone:
      break;
  }
  return Failed(where, With("the recorder gave up", process), "");
}

}  // namespace pgle
