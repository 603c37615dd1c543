// `pgle-inspect coverage` as text and as JSON ("pgle.inspect.coverage/1").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inspect/coverage.h"

namespace pgle {

struct CoverageReport {
  std::string profile, hlo;  // as given
  std::vector<HloCoverage> modules;
  std::vector<size_t> targets;  // what the gate is about
  bool strict = false;
  bool verbose = false;             // lists everything
  std::optional<double> min_share;  // 0 to 1
};

// Whether every target reaches min_share, and finds something unless that is 0; true without one.
bool IsCovered(const CoverageReport& report);
bool IsCovered(const CoverageReport& report, const HloCoverage& module);  // that one alone

std::string FormatCoverageText(const CoverageReport& report);
std::string FormatCoverageJson(const CoverageReport& report);

}  // namespace pgle
