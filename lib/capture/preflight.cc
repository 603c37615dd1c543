#include "capture/preflight.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pgle {
namespace {

// Whose library an injection variable names, as far as its path tells.
std::string HolderOf(const std::string& path) {
  constexpr std::pair<const char*, const char*> kHolders[] = {
      {"libpgle_recorder", "another pgle-capture"},
      {"sanitizer", "compute-sanitizer"},
      {"ToolsInjection", "nsys"},
      {"nsight-systems", "nsys"},
      {"nsight-compute", "ncu"},
      {"cuda-injection", "ncu"},
      {"ncu", "ncu"},
      {"dcgm", "DCGM"},
      {"libcupti", "CUPTI, as some container images set it"},
  };
  for (const auto& [part, holder] : kHolders) {
    if (path.find(part) != path.npos) return holder;
  }
  return "another tool";
}

}  // namespace

bool IsJaxTrue(const std::string& value) {
  std::string lower;
  for (const char c : value) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* yes : {"y", "yes", "t", "true", "on", "1"}) {
    if (lower == yes) return true;
  }
  return false;
}

Status CheckEnvironment(const Environment& environment, bool disable_auto_pgle) {
  // Before the variables, since nsys sets both: its own name is clearer than a library's.
  if (environment.NonEmpty("NSYS_PROFILING_SESSION_ID")) {
    return Failed("NSYS_PROFILING_SESSION_ID", "is set: this runs under nsys, which holds CUPTI",
                  "run pgle-capture without nsys");
  }
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const auto path = environment.NonEmpty(variable);
    if (!path) continue;
    return Failed(variable, fmt::format("is already set, for {}: {}", HolderOf(*path), *path),
                  fmt::format("run without that tool, or unset {}", variable));
  }
  const auto auto_pgle = environment.Get("JAX_ENABLE_PGLE");
  if (auto_pgle && IsJaxTrue(*auto_pgle) && !disable_auto_pgle) {
    return Failed(
        "JAX_ENABLE_PGLE",
        fmt::format("is {}: JAX would ask for CUPTI, which has one user at a time, and the "
                    "program would fail",
                    *auto_pgle),
        "unset it, or give --disable-auto-pgle");
  }
  return {};
}

Status CheckRecorder(const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return {};
  return Failed(
      path, fmt::format("the recorder cannot be read: {}", strerror(errno)),
      "install the tools whole: it belongs at ../lib/pgle beside the folder of pgle-capture");
}

}  // namespace pgle
