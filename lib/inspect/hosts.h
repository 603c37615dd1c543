// Whether all ranks of a job compiled the same modules. Where they did not, one profile does not
// serve them all, and where their collectives stand in another order they may wait for each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace pgle {

struct InstructionDifference {
  std::string name;  // at scheduling time
  // "only here", "only in the reference", "all-gather-start -> all-gather", or the settings of the
  // backend_config that differ: "block_m 128 -> 256".
  std::string what;
};

// Ranks that compiled a module alike: equal fingerprint, instruction names, order of collectives in
// the schedule, and profile handed over.
struct HostVariant {
  std::vector<size_t> ranks;
  std::string file;  // of the first of them
  std::string fingerprint;
  std::string profile_sha256;  // of its .fdo_profile, hexadecimal; "empty"; or "" when not dumped
  std::vector<std::string> collectives;  // scheduling-time names in schedule order
  std::string names_sha256;              // raw; of all that the scheduler asks for

  // Against the reference, the first variant of the module.
  static constexpr size_t kSameOrder = SIZE_MAX;
  size_t first_other_collective = kSameOrder;  // position
  std::vector<InstructionDifference> differences;
};

struct ComparedModule {
  std::string name;
  std::vector<HostVariant> variants;  // most ranks first
  std::vector<size_t> absent;         // ranks that have no such module

  // More than one variant; or collectives that some ranks lack.
  bool differs() const;
};

struct HostsComparison {
  std::vector<std::string> ranks;       // as given, or folders found
  std::vector<ComparedModule> modules;  // by name
  uint64_t other_modules = 0;           // not compared

  bool differs() const;
};

// `inputs`: a dump folder or HLO file a rank; or one folder that holds a folder a rank. Compared
// are modules that match `pattern` (RE2, unanchored); where that is empty, the users' modules
// (jit_, pjit_, pmap_) if there are any, else all. Errors: fewer than two ranks, a rank without
// optimized HLO, damaged files, a bad pattern, no match.
Result<HostsComparison> CompareHosts(const std::vector<std::string>& inputs,
                                     const std::string& pattern,
                                     const std::string& spool_directory);

// Differences of `module` against `reference`, by name: every instruction that runs by itself,
// those inside fusions left out.
std::vector<InstructionDifference> DiffInstructions(const HloModule& reference,
                                                    const HloModule& module);

// The scheduling-time names of the collectives that the walked computations run, in schedule order.
std::vector<std::string> CollectiveOrder(const HloModule& module);

struct HostsReport {
  HostsComparison comparison;
  bool verbose = false;
};

// JSON: "pgle.inspect.hosts/1".
std::string FormatHostsText(const HostsReport& report);
std::string FormatHostsJson(const HostsReport& report);

}  // namespace pgle
