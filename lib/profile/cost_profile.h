// A latency profile in memory: what XLA reads as ProfiledInstructionsProto, costs only (XLA drops
// latencies when it filters a profile by fingerprint: gpu_hlo_schedule.cc, FilterWithFingerprint).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pgle {

struct InstructionCost {
  std::string name;  // "instruction", or "fingerprint::instruction"
  double cost_us = 0;

  friend bool operator==(const InstructionCost&, const InstructionCost&) = default;
};

// Entries in the order of the file. XLA lets the last entry of a name win.
struct CostProfile {
  std::vector<InstructionCost> costs;
};

enum class ProfileFormat { kBinary, kText };

// The format that XLA reads a profile in, decided by the extension alone: .pb or .pbtxt.
// Errors: any other extension, since XLA then ignores the profile without a word.
Result<ProfileFormat> ProfileFormatFor(const std::string& path);

std::string SerializeProfile(const CostProfile& profile, ProfileFormat format);

// Errors: not a profile, cut inside an entry, a cost that is not finite or is negative.
Result<CostProfile> ParseProfile(std::string_view bytes, ProfileFormat format,
                                 const std::string& name);

// Reads a profile file; `.zst` and `.gz` behind the extension are unpacked.
Result<CostProfile> ReadProfile(const std::string& path,
                                const std::string& spool_directory = "/tmp");

}  // namespace pgle
