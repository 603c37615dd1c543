// Which instructions differ between two versions of a module. The fingerprint does not say, and the
// names often do not either: after the autotuner chose otherwise, only backend_config differs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pgle {

struct ModuleDigest {
  std::string module;
  std::string fingerprint;
  std::map<std::string, size_t> instructions;  // by name: a hash of all that it computes with
};

// Reads a serialized HloProto. Ids, operands' ids and source locations are not part of the hash.
Result<ModuleDigest> DigestHlo(std::string_view bytes, const std::string& name);

// Names that only one has, and names of instructions that differ; sorted.
std::vector<std::string> DifferingInstructions(const ModuleDigest& a, const ModuleDigest& b);

// The modules with these fingerprints among HLO files (.hlo.pb, also .zst and .gz) and XLA dump
// folders. Errors: a path does not exist, a file is damaged.
Result<std::map<std::string, ModuleDigest>> FindModules(
    const std::vector<std::string>& paths, const std::vector<std::string>& fingerprints,
    const std::string& spool_directory);

}  // namespace pgle
