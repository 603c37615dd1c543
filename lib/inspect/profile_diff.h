// How two profiles differ, as XLA would use them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profile/cost_profile.h"

namespace pgle {

// What XLA would apply, by key: the last entry of a name wins. In a profile of at most one
// fingerprint the key is the instruction, and a qualified entry beats a bare one; in a profile of
// several it is the entry's whole name.
std::map<std::string, double> EffectiveCosts(const CostProfile& profile);

// The fingerprints in a profile, sorted.
std::vector<std::string> FingerprintsIn(const CostProfile& profile);

struct CostChange {
  std::string name;
  double a_us = 0, b_us = 0;

  // (b - a) / a; infinite from 0.
  double relative() const;
};

struct ProfileDiff {
  uint64_t equal = 0;
  std::vector<CostChange> changed;  // largest relative change first, either way; then by name
  std::vector<InstructionCost> only_in_a, only_in_b;  // by name
  double common_a_us = 0, common_b_us = 0;            // totals over the names of both
  std::vector<std::string> fingerprints_a, fingerprints_b;

  bool empty() const { return changed.empty() && only_in_a.empty() && only_in_b.empty(); }
  // Names whose cost changed by more than `limit` (0.2 is 20 %), and names that only one profile
  // has.
  uint64_t Over(double limit) const;
};

ProfileDiff DiffProfiles(const CostProfile& a, const CostProfile& b);

struct DiffReport {
  std::string a, b;  // as given
  ProfileDiff diff;
  bool verbose = false;
  bool has_limit = false;
  double limit = 0;
};

// JSON: "pgle.inspect.diff/1".
std::string FormatDiffText(const DiffReport& report);
std::string FormatDiffJson(const DiffReport& report);

// "3 costs differ, the most by +12.0 %; 1 only in A; 2 only in B", or "equal".
std::string SummarizeDiff(const ProfileDiff& diff, const std::string& a, const std::string& b);

}  // namespace pgle
