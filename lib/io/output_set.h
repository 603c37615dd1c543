// Several outputs that belong together: all of them appear, or none does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/output.h"

namespace pgle {

class OutputSet {
 public:
  // Writes `content` beside `path`, without giving it that name yet.
  Status Stage(const std::string& path, std::string_view content);
  // Gives all their names. Standard output ("-") is written now, before any name is given.
  // Errors: the disk is full or a rename fails; what was named before stays.
  Status Commit();

 private:
  std::vector<AtomicFile> files_;
  std::string standard_output_;
};

// Refuses outputs that would overwrite an input or one another: two of one path, or two on standard
// output. Empty paths are passed over.
Status CheckOutputs(const std::vector<std::string>& outputs,
                    const std::vector<std::string>& inputs);

}  // namespace pgle
