#include "inspect/missing_reason.h"

#include <algorithm>
#include <unordered_set>

#include "extract/module_samples.h"
#include "hlo/opcodes.h"
#include "inspect/cost_class.h"

namespace pgle {
namespace {

// Below this share of a profile's names that also occur in the module, the profile is another
// module's. The same module compiled again keeps nearly all of its names.
constexpr double kSameModuleShare = 0.5;

}  // namespace

std::string_view NameStem(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return name;
  const std::string_view number = name.substr(dot + 1);
  const bool is_number = std::all_of(number.begin(), number.end(),
                                     [](unsigned char c) { return c >= '0' && c <= '9'; });
  return is_number ? name.substr(0, dot) : name;
}

ReasonFinder::ReasonFinder(const HloModule& module, const AppliedProfile& applied,
                           const std::vector<SchedulerQuery>& queries,
                           const std::unordered_map<std::string, std::string>& other_modules)
    : module_(module), applied_(applied), other_modules_(other_modules) {
  active_.resize(module.computations().size());
  std::unordered_set<std::string_view> asked;
  for (const SchedulerQuery& query : queries) {
    asked.insert(query.name);
    if (applied.Find(query.name) != nullptr) {
      MarkActive(module.instruction(query.instruction).computation);
    }
  }
  const auto is_known = [&](std::string_view name) {
    return module.FindByName(name) != kNoInstruction || asked.count(name) > 0;
  };
  for (std::string_view name : applied.names()) {
    has_command_buffers_ |= IsCommandBufferName(name);
    const uint32_t instruction = module.FindByName(name);
    if (instruction != kNoInstruction) MarkActive(module.instruction(instruction).computation);
    if (is_known(name)) continue;
    strangers_[NameStem(name)].push_back(name);
    has_strange_gemm_ |= IsGemmName(name);
  }
  const std::vector<std::string_view> names =
      applied.names().empty() ? applied.foreign_names() : applied.names();
  const auto known = std::count_if(names.begin(), names.end(), is_known);
  is_other_module_ =
      !applied.has_own_fingerprint() && !names.empty() &&
      static_cast<double>(known) < kSameModuleShare * static_cast<double>(names.size());
}

void ReasonFinder::MarkActive(uint32_t computation) {
  std::vector<uint32_t> pending = {computation};
  while (!pending.empty()) {
    const uint32_t current = pending.back();
    pending.pop_back();
    if (active_[current]) continue;
    active_[current] = true;
    for (uint32_t caller : module_.computation(current).callers) {
      pending.push_back(module_.instruction(caller).computation);
    }
  }
}

bool ReasonFinder::IsUndecided(const SchedulerQuery& query) const {
  if (query.kind != QueryKind::kCollective || !query.wrapped_name.empty()) return false;
  const HloInstruction& instruction = module_.instruction(query.instruction);
  return IsCollective(instruction.opcode) && instruction.name != query.name &&
         strangers_.count(NameStem(instruction.name)) > 0;
}

bool ReasonFinder::InUntakenBranch(uint32_t instruction) const {
  uint32_t computation = module_.instruction(instruction).computation;
  while (!active_[computation] && !module_.computation(computation).callers.empty()) {
    const uint32_t caller = module_.computation(computation).callers.front();
    if (module_.instruction(caller).opcode == "conditional") return true;
    computation = module_.instruction(caller).computation;
  }
  return false;
}

bool ReasonFinder::ExplainByOtherName(const SchedulerQuery& query, MissingName* missing) const {
  const auto found = [&](CoverageReason reason, std::string_view detail, double cost_us) {
    missing->reason = reason;
    missing->detail = detail;
    missing->has_time = true;
    missing->time_us = cost_us;
    return true;
  };
  const std::string_view own = module_.instruction(query.instruction).name;
  const bool is_pair = query.kind == QueryKind::kAsyncStart || query.kind == QueryKind::kAsyncDone;
  for (std::string_view name : {own, query.wrapped_name}) {
    if (name.empty() || name == query.name || is_pair) continue;
    if (const double* cost = applied_.Find(name)) {
      return found(CoverageReason::kRenamed, name, *cost);
    }
  }
  if (query.kind == QueryKind::kCollective && !query.wrapped_name.empty()) {
    // Asynchronous here, synchronous where the profile was taken.
    const auto it = strangers_.find(NameStem(query.wrapped_name));
    if (it != strangers_.end() && it->second.size() == 1) {
      return found(CoverageReason::kRenamed, it->second.front(),
                   *applied_.Find(it->second.front()));
    }
  }
  for (std::string_view name : {query.name, own, query.wrapped_name}) {
    const std::string_view fingerprint = applied_.ForeignFingerprint(name);
    if (name.empty() || fingerprint.empty()) continue;
    const auto other = other_modules_.find(std::string(fingerprint));
    return other == other_modules_.end()
               ? found(CoverageReason::kForeignFingerprint, fingerprint, applied_.ForeignCost(name))
               : found(CoverageReason::kOtherModule, other->second, applied_.ForeignCost(name));
  }
  return false;
}

MissingName ReasonFinder::Explain(const SchedulerQuery& query) const {
  MissingName missing;
  missing.name = query.name;
  if (query.name.find("::") != std::string_view::npos) {
    missing.detail = "'::' in its name: XLA drops such an entry";
    return missing;
  }
  if (ExplainByOtherName(query, &missing)) return missing;
  const HloInstruction& instruction = module_.instruction(query.instruction);
  if (is_other_module_) {
    missing.reason = CoverageReason::kOtherModule;
  } else if (query.kind == QueryKind::kAsyncStart || query.kind == QueryKind::kAsyncDone) {
    missing.reason = CoverageReason::kLeftToXla;
    const double* cost = applied_.Find(query.wrapped_name);
    if (query.kind == QueryKind::kAsyncStart && cost != nullptr) {
      missing.detail = query.wrapped_name;
      missing.has_time = true;
      missing.time_us = *cost;
    }
  } else if (has_strange_gemm_ && (instruction.opcode == "custom-call" || IsGemmName(query.name))) {
    missing.reason = CoverageReason::kAutotuner;
  } else if (InUntakenBranch(query.instruction)) {
    missing.reason = CoverageReason::kUntakenBranch;
  } else if (has_command_buffers_) {
    missing.detail = "the profile has command buffers, which hide their instructions";
  }
  return missing;
}

}  // namespace pgle
