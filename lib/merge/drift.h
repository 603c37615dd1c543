// Whether the processes compiled the same modules. Hosts that schedule collectives in different
// orders hang, and a profile helps only the version of a module that it was measured on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace pgle {

// The fingerprints that one process has for one module name (one for each input shape, say).
struct ModuleVersions {
  std::string module;   // empty: a profile, which does not say; then all its fingerprints together
  std::string process;  // for messages
  std::vector<std::string> fingerprints;  // sorted; empty: unknown
};

struct DriftSide {
  std::vector<std::string> fingerprints;
  std::vector<std::string> processes;
};

struct ModuleDrift {
  std::string module;
  // One side is contained in the next. For profiles that is no drift but a module that some ran
  // and others did not; where the module's name is known it is drift.
  bool is_nested = false;
  std::vector<DriftSide> sides;  // most processes first
  std::vector<std::string>
      instructions;               // that differ between the first two sides, as far as known
  std::string instructions_from;  // where that is known from
};

struct DriftReport {
  std::vector<ModuleDrift> modules;  // by name; those with more than one side
  size_t checked = 0;                // processes with a fingerprint
  size_t unchecked = 0;              // and without
};

DriftReport FindDrift(const std::vector<ModuleVersions>& versions);

bool IsRefusable(const ModuleDrift& drift);

// One line: who compiled what. At most `shown` processes a side.
std::string Describe(const ModuleDrift& drift, size_t shown);

// Of the first two sides, one fingerprint each that the other lacks; empty where there is none.
std::pair<std::string, std::string> OddFingerprints(const ModuleDrift& drift);

}  // namespace pgle
