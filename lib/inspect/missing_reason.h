// Why the profile has no cost for a look-up. Private to lib/inspect.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hlo/scheduler_queries.h"
#include "inspect/applied_profile.h"
#include "inspect/coverage.h"

namespace pgle {

// A name without its last ".digits": what XLA's NameUniquer numbers. The instruction that an
// asynchronous collective wraps and the synchronous one made of it later have it in common.
std::string_view NameStem(std::string_view name);

class ReasonFinder {
 public:
  ReasonFinder(const HloModule& module, const AppliedProfile& applied,
               const std::vector<SchedulerQuery>& queries,
               const std::unordered_map<std::string, std::string>& other_modules);

  // Whether the profile may have the query under a wrapped name that the module has lost.
  bool IsUndecided(const SchedulerQuery& query) const;
  // The reason, with the time that the profile has for it under another name.
  MissingName Explain(const SchedulerQuery& query) const;

 private:
  bool ExplainByOtherName(const SchedulerQuery& query, MissingName* missing) const;
  bool InUntakenBranch(uint32_t instruction) const;
  void MarkActive(uint32_t computation);

  const HloModule& module_;
  const AppliedProfile& applied_;
  const std::unordered_map<std::string, std::string>& other_modules_;
  // Names of the profile that no instruction of the module bears, by stem.
  std::unordered_map<std::string_view, std::vector<std::string_view>> strangers_;
  std::vector<bool> active_;  // computations where an instruction has a cost, calls included
  bool is_other_module_ = false;
  bool has_strange_gemm_ = false;
  bool has_command_buffers_ = false;
};

}  // namespace pgle
