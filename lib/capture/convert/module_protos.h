// The HLO protos of the modules that ran, from folders of XLA dumps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "capture/convert/range_meanings.h"

namespace pgle {

class ModuleProtos {
 public:
  explicit ModuleProtos(const std::vector<std::string>& folders) : folders_(folders) {}

  // The trimmed HloProto whose id and name are the module's; nothing when no folder holds it. A
  // file that cannot be read is warned of.
  std::optional<std::string> Find(const CapturedModule& module, Diagnostics* diagnostics);

 private:
  void ListFiles();

  const std::vector<std::string>& folders_;
  bool is_listed_ = false;
  std::vector<std::string> files_;  // sorted by folder and name
};

}  // namespace pgle
