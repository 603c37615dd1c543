#include "extract/coverage.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "hlo/scheduler_queries.h"

namespace pgle {
namespace {

double Share(double part, double rest) {
  return part + rest <= 0 ? 1 : part / (part + rest);
}

// Whether anything ran in a computation, calls included.
class Activity {
 public:
  explicit Activity(const ModuleSamples& module) : hlo_(*module.hlo) {
    seen_.resize(hlo_.computations().size());
    for (const NameSamples& samples : module.names) {
      for (const RuntimeOp& op : samples.ops) {
        const uint32_t index = hlo_.FindByName(op.name);
        if (index != kNoInstruction) Mark(hlo_.instruction(index).computation);
      }
    }
  }
  bool In(uint32_t computation) const { return seen_[computation]; }

 private:
  void Mark(uint32_t computation) {
    std::vector<uint32_t> pending = {computation};
    while (!pending.empty()) {
      const uint32_t current = pending.back();
      pending.pop_back();
      if (seen_[current]) continue;
      seen_[current] = true;
      for (uint32_t caller : hlo_.computation(current).callers) {
        pending.push_back(hlo_.instruction(caller).computation);
      }
    }
  }

  const HloModule& hlo_;
  std::vector<bool> seen_;
};

MissingReason ReasonFor(const ModuleSamples& module, const Activity& activity,
                        const SchedulerQuery& query) {
  if (!CanBeLookedUp(query.name)) return MissingReason::kCannotBeNamed;
  if (!module.command_buffers.empty()) return MissingReason::kCommandBuffer;
  if (module.has_dropped_events) return MissingReason::kDroppedEvents;
  const uint32_t computation = module.hlo->instruction(query.instruction).computation;
  return activity.In(computation) ? MissingReason::kNoActivity : MissingReason::kDidNotRun;
}

}  // namespace

const char* ToString(MissingReason reason) {
  switch (reason) {
    case MissingReason::kCommandBuffer:
      return "hidden in a command buffer";
    case MissingReason::kDroppedEvents:
      return "the recorder dropped events";
    case MissingReason::kDidNotRun:
      return "its computation did not run";
    case MissingReason::kNoActivity:
      return "no device activity seen";
    case MissingReason::kCannotBeNamed:
      return "no entry can have its name ('::', or not ASCII)";
  }
  return "";
}

double ModuleCoverage::by_count(bool strict) const {
  const size_t rest = missing.size() + (strict ? left_to_xla.size() : 0);
  return Share(static_cast<double>(found), static_cast<double>(rest));
}

double ModuleCoverage::by_time(bool strict) const {
  const Picoseconds rest = missing_busy + (strict ? left_busy : 0);
  return Share(static_cast<double>(found_busy), static_cast<double>(rest));
}

ModuleCoverage ComputeCoverage(const ModuleSamples& module, const std::vector<NamedCost>& costs) {
  ModuleCoverage coverage;
  if (module.hlo == nullptr) return coverage;
  coverage.known = true;
  std::unordered_set<std::string_view> written;
  for (const NamedCost& cost : costs) {
    if (CanBeLookedUp(cost.name)) written.insert(cost.name);
  }
  const Activity activity(module);
  std::set<std::string_view> xla_missing;
  std::unordered_set<std::string_view> timed;  // names whose device time was booked
  const auto book = [&](std::string_view name, Picoseconds* sum) {
    const NameSamples* samples = module.Find(name);
    if (samples != nullptr && timed.insert(samples->name).second) *sum += samples->busy;
  };
  for (const SchedulerQuery& query : SchedulerQueries(*module.hlo)) {
    const bool own = written.count(query.name) > 0;
    const bool either =
        own || (!query.wrapped_name.empty() && written.count(query.wrapped_name) > 0);
    if (query.kind == QueryKind::kCollective ? either : own) {
      ++coverage.found;
      ++coverage.xla_found;
      book(query.name, &coverage.found_busy);
    } else if (query.is_free) {
      continue;
    } else if (query.kind == QueryKind::kAsyncStart || query.kind == QueryKind::kAsyncDone) {
      coverage.left_to_xla.emplace_back(query.name);
      xla_missing.insert(query.name);
      book(query.name, &coverage.left_busy);
    } else {
      coverage.missing.push_back({std::string(query.name), ReasonFor(module, activity, query)});
      xla_missing.insert(query.name);
      book(query.name, &coverage.missing_busy);
    }
    if (query.kind == QueryKind::kAsyncStart && either) ++coverage.xla_found;
  }
  std::sort(coverage.missing.begin(), coverage.missing.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  std::sort(coverage.left_to_xla.begin(), coverage.left_to_xla.end());
  coverage.xla_missing = xla_missing.size();
  coverage.missing_busy += module.command_buffer_busy + module.unknown_busy;
  return coverage;
}

}  // namespace pgle
