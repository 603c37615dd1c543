// Puts a HloModule together from what a reader finds, in any order, and checks that all references
// hold. Private to lib/hlo.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hlo/module.h"

namespace pgle {

class HloModuleBuilder {
 public:
  HloModule& module() { return module_; }

  void SetName(std::string_view name) { module_.name_ = name; }
  void SetId(int64_t id) { module_.id_ = id; }
  void SetScheduled() { module_.is_scheduled_ = true; }
  void SetFingerprint(std::string_view fingerprint) { module_.fingerprint_ = fingerprint; }
  void SetRootFingerprint(std::string_view fingerprint) { module_.root_fingerprint_ = fingerprint; }
  void SetDeviceIds(std::vector<int64_t> ids) { module_.device_ids_ = std::move(ids); }
  void SetEntry(uint32_t computation) { module_.entry_ = computation; }

  std::string_view Intern(std::string_view text);
  uint32_t AddComputation(std::string_view name);
  HloComputation& computation(uint32_t index) { return module_.computations_[index]; }
  // The instruction goes to the end of its computation; returns its index.
  uint32_t AddInstruction(HloInstruction instruction);
  HloInstruction& instruction(uint32_t index) { return module_.instructions_[index]; }

  // Errors: no entry computation, a computation without a root, two instructions of one name.
  Result<HloModule> Finish(const std::string& name);

 private:
  HloModule module_;
  std::unordered_map<std::string_view, std::string_view> interned_;
};

}  // namespace pgle
