// Costs by name over many profiles: 8 bytes a cost, and each name once.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/cost_profile.h"

namespace pgle {

// A name that comes more than once in one profile.
struct DuplicateName {
  std::string name;
  uint32_t count = 0;
  // What XLA would use: the last value; the average where a name of the file holds ".remat"
  // (gpu_hlo_schedule.cc, FilterWithFingerprint).
  double xla_us = 0;
};

// What was seen in one profile.
struct ProfileFacts {
  uint64_t entries = 0;
  std::vector<std::string> fingerprints;  // sorted
  std::vector<DuplicateName> duplicates;  // by name
  bool averages = false;                  // a name holds ".remat"
  uint64_t qualified = 0;                 // entries "fingerprint::name"
  std::vector<std::string> lone_bare;     // bare, without "fingerprint::name" beside it; sorted
  uint64_t never_used = 0;                // names that XLA drops: "::" in them twice, or at an end
};

// The value of jaxlib's aggregate_profiled_instructions (xla/python/aggregate_profile.cc): sorted
// ascending, index int(percentile / 100.0 * (n - 1)), no interpolation. Reorders `costs`, which
// must not be empty; `percentile` is in 0..100.
double JaxlibPercentile(std::vector<double>& costs, double percentile);

// Splits "fingerprint::name". False for a bare name, and for what XLA drops.
bool SplitKey(std::string_view key, std::string_view* fingerprint, std::string_view* name);

// Whether a name, by its form, is that of a collective ("all-gather-start.3",
// "all-reduce.1.0-fusion").
bool IsCollectiveName(std::string_view key);

class ProfileTable {
 public:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  struct Name {
    std::string_view key;
    std::vector<double> costs;  // in no order
    uint64_t inputs = 0;        // that have it
    double min_us = 0, max_us = 0;
    uint32_t min_input = kNone, max_input = kNone;
    std::vector<uint32_t> origins;  // of a bare name: fingerprints whose cost it repeats
  };

  // `input`: its number, for messages. Each input may be added once.
  ProfileFacts Add(uint32_t input, const CostProfile& profile);
  // Takes over all costs of a table of other inputs.
  void Absorb(ProfileTable&& other);

  // Bare names first, then qualified ones, each sorted, so that the order of inputs is without
  // influence. A name may have no cost.
  std::vector<uint32_t> SortedNames() const;
  Name& name(uint32_t index) { return names_[index]; }
  const Name& name(uint32_t index) const { return names_[index]; }
  const std::string& fingerprint(uint32_t index) const { return fingerprints_[index]; }
  // Names without fingerprint under a fingerprint, sorted.
  std::vector<std::string> NamesUnder(const std::string& fingerprint) const;

 private:
  // What Add() needs to know of a name while it looks at one input.
  struct Mark {
    uint32_t fingerprint = kNone;  // of a qualified name
    uint32_t bare = kNone;         // of a qualified name: the name without
    uint32_t seen_in = kNone, count = 0;
    double last_us = 0;
    uint32_t twin_in = kNone;  // of a bare name: a qualified one was seen in this input
  };

  uint32_t Intern(std::string_view key);
  uint32_t InternFingerprint(std::string_view fingerprint);
  void AddOrigin(Name* name, uint32_t fingerprint);

  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, uint32_t> by_key_;
  std::vector<Name> names_;
  std::vector<Mark> marks_;
  std::vector<uint32_t> previous_;  // names of the profile before
  std::deque<std::string> fingerprints_;
  std::unordered_map<std::string_view, uint32_t> by_fingerprint_;
};

}  // namespace pgle
