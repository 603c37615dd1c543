// What pgle-merge tells people (text) and programs (JSON, schema "pgle.merge.report/1", described
// in man/pgle-merge.1).
#pragma once

#include <string>
#include <vector>

#include "merge/merge.h"

namespace pgle {

struct MergeContext {
  std::string version;                    // of the tool
  std::string output;                     // the profile's path; empty when none was written
  std::string output_sha256;              // hex
  std::vector<std::string> also_written;  // sample file, per-module files
  uint64_t expected_processes = 0;
  bool verbose = false;  // every file instead of their number
};

// Several lines, no colour. Ends with the next command to run.
std::string FormatMergeText(const Merged& merged, const MergeContext& context);

std::string FormatMergeJson(const Merged& merged, const MergeContext& context);

}  // namespace pgle
