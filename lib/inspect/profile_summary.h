// What a profile holds: its keys, its largest costs, its totals by class.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profile/cost_profile.h"

namespace pgle {

struct ClassTotal {
  std::string name;  // see CostClassOf
  uint64_t instructions = 0;
  double us = 0;
};

struct ProfileSummary {
  uint64_t entries = 0;
  uint64_t bare = 0;                                           // apply to every module
  std::vector<std::pair<std::string, uint64_t>> fingerprints;  // with their entries, sorted
  uint64_t instructions =
      0;               // each once, a bare entry beside a qualified one of its name not again
  uint64_t zeros = 0;  // of them, with a cost of 0
  double total_us = 0;
  std::vector<ClassTotal> classes;     // largest first
  std::vector<InstructionCost> costs;  // largest first, then by name; by key, as XLA applies them

  // What XLA drops or changes.
  std::vector<std::string> repeated;  // the last of equal names wins
  std::vector<std::string> dropped;   // "::" in the instruction's name: no module gets it
  bool has_remat = false;             // XLA strips and averages the names of the whole file
};

ProfileSummary Summarize(const CostProfile& profile);

struct ShowReport {
  std::string profile;  // as given
  ProfileSummary summary;
  size_t top = 20;  // costs listed in text
};

// JSON: "pgle.inspect.show/1".
std::string FormatShowText(const ShowReport& report);
std::string FormatShowJson(const ShowReport& report);

}  // namespace pgle
