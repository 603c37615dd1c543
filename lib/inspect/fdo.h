// The .fdo_profile files of an XLA dump (--xla_gpu_experimental_dump_fdo_profiles): the profile
// that the client handed over with each compile, as raw bytes, at every dump point
// (xla/service/dump.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/profile_diff.h"
#include "profile/cost_profile.h"

namespace pgle {

struct FdoPoint {
  std::string point;  // of the dump
  std::string file;
  uint64_t bytes = 0;
  std::string sha256;  // hexadecimal
};

// One compile of a module.
struct FdoCompile {
  int64_t id = -1;
  std::string module;
  std::vector<FdoPoint> points;
  bool is_equal = true;      // the same bytes at every point
  CostProfile profile;       // of the last point; no costs when that is empty
  std::string profile_path;  // of the flag, as XLA dumped it; empty: not set, or nothing tells
  // Against the compile of this module before; absent for the first.
  std::optional<ProfileDiff> change;
  // Against a profile given; absent when none is or this one is empty.
  std::optional<ProfileDiff> against;

  bool is_empty() const { return profile.costs.empty(); }
};

// By module, then id. `given`: a profile to compare with, or null.
// Errors: not a folder; no .fdo_profile in it; a file that XLA could not parse either.
Result<std::vector<FdoCompile>> ReadFdoProfiles(const std::string& folder, const CostProfile* given,
                                                const std::string& spool_directory);

struct FdoReport {
  std::string folder, profile;  // as given
  std::vector<FdoCompile> compiles;
  bool verbose = false;
};

// JSON: "pgle.inspect.fdo/1".
std::string FormatFdoText(const FdoReport& report);
std::string FormatFdoJson(const FdoReport& report);

}  // namespace pgle
