#include "inspect/coverage.h"

#include <algorithm>
#include <optional>

#include "hlo/dump_folder.h"
#include "hlo/scheduler_queries.h"
#include "inspect/applied_profile.h"
#include "inspect/missing_reason.h"

namespace pgle {
namespace {

struct Sums {
  double found = 0, missing = 0;
  bool left_out = false;  // something is asked for that counts as neither
};

double Share(const Sums& sums) {
  const double asked = sums.found + sums.missing;
  if (asked > 0) return sums.found / asked;
  return sums.left_out ? 0 : 1;
}

// Books the time of names: their time in the trace where there is one, else what the profile says.
class Clock {
 public:
  Clock(const ModuleTimes* times, HloCoverage* coverage) : times_(times), coverage_(coverage) {}

  void Found(const SchedulerQuery& query, double cost_us) {
    coverage_->found_us += times_ == nullptr ? cost_us : Traced(query.name).value_or(0);
  }

  void Missing(MissingName* missing, bool is_left) {
    if (times_ != nullptr) {
      const std::optional<double> traced = Traced(missing->name);
      missing->has_time = traced.has_value();
      missing->time_us = traced.value_or(0);
    }
    (is_left ? coverage_->left_us : coverage_->missing_us) += missing->time_us;
    coverage_->missing_without_time += missing->has_time ? 0 : 1;
  }

 private:
  std::optional<double> Traced(std::string_view name) const {
    const auto it = times_->us.find(std::string(name));
    return it == times_->us.end() ? std::nullopt : std::optional<double>(it->second);
  }

  const ModuleTimes* times_;
  HloCoverage* coverage_;
};

const ModuleTimes* TimesOf(const HloModule& module, const std::vector<ModuleTimes>& all) {
  const ModuleTimes* namesake = nullptr;
  for (const ModuleTimes& times : all) {
    if (times.module != module.name()) continue;
    if (times.fingerprint == module.fingerprint()) return &times;
    if (namesake == nullptr) namesake = &times;
  }
  return namesake;
}

}  // namespace

const char* ToString(CoverageReason reason) {
  switch (reason) {
    case CoverageReason::kRenamed:
      return "renamed after scheduling";
    case CoverageReason::kOtherModule:
      return "other module";
    case CoverageReason::kForeignFingerprint:
      return "foreign fingerprint";
    case CoverageReason::kAutotuner:
      return "autotuner chose another kernel";
    case CoverageReason::kUntakenBranch:
      return "untaken branch";
    case CoverageReason::kLeftToXla:
      return "asynchronous pair left to XLA";
    case CoverageReason::kNoMeasurement:
      return "no measurement";
  }
  return "";
}

double HloCoverage::share(bool strict) const {
  return ShareOf({this}, strict);
}

double HloCoverage::share_by_time(bool strict) const {
  const bool nothing_found = found_instructions == 0 && !(missing.empty() && undecided.empty());
  return Share({found_us, missing_us + (strict ? left_us : 0), nothing_found});
}

double ShareOf(const std::vector<const HloCoverage*>& modules, bool strict) {
  Sums sums;
  for (const HloCoverage* module : modules) {
    sums.found += static_cast<double>(module->found_instructions);
    sums.missing += static_cast<double>(module->missing.size());
    if (strict) {
      sums.missing += static_cast<double>(module->undecided.size());
    } else {
      sums.missing -= static_cast<double>(module->left_to_xla.size());
    }
    sums.left_out |= !module->undecided.empty() || !module->left_to_xla.empty();
  }
  return Share(sums);
}

HloCoverage CoverageOf(const HloModule& module, const CostProfile& profile,
                       const ModuleTimes* times,
                       const std::unordered_map<std::string, std::string>& other_modules) {
  HloCoverage coverage;
  coverage.module = module.name();
  coverage.fingerprint = module.fingerprint();
  coverage.is_scheduled = module.is_scheduled();
  coverage.times_from_trace = times != nullptr;
  const AppliedProfile applied(profile, module.fingerprint());
  coverage.has_own_fingerprint = applied.has_own_fingerprint();
  const std::vector<SchedulerQuery> queries = SchedulerQueries(module);
  const ReasonFinder reasons(module, applied, queries, other_modules);
  Clock clock(times, &coverage);
  for (const SchedulerQuery& query : queries) {
    const double* own = applied.Find(query.name);
    const double* either = own;
    if (either == nullptr && !query.wrapped_name.empty()) either = applied.Find(query.wrapped_name);
    const bool is_pair =
        query.kind == QueryKind::kAsyncStart || query.kind == QueryKind::kAsyncDone;
    if (const double* found = query.kind == QueryKind::kCollective ? either : own) {
      ++coverage.found_instructions;
      ++coverage.found_lookups;
      clock.Found(query, *found);
    } else if (query.is_free) {
      continue;
    } else if (reasons.IsUndecided(query)) {
      coverage.undecided.emplace_back(query.name);
    } else {
      MissingName missing = reasons.Explain(query);
      clock.Missing(&missing, is_pair);
      if (is_pair) coverage.left_to_xla.push_back(missing.name);
      coverage.missing.push_back(std::move(missing));
    }
    if (query.kind == QueryKind::kAsyncStart && either != nullptr) ++coverage.found_lookups;
  }
  std::sort(coverage.missing.begin(), coverage.missing.end(),
            [](const MissingName& a, const MissingName& b) { return a.name < b.name; });
  std::sort(coverage.undecided.begin(), coverage.undecided.end());
  std::sort(coverage.left_to_xla.begin(), coverage.left_to_xla.end());
  return coverage;
}

Result<std::vector<HloCoverage>> CoverageOf(const std::string& hlo_path, const CostProfile& profile,
                                            const std::vector<ModuleTimes>& times,
                                            const std::string& spool_directory) {
  PGLE_ASSIGN_OR_RETURN(DumpFolder dump, DumpFolder::Open(hlo_path, spool_directory));
  PGLE_ASSIGN_OR_RETURN(const auto modules, dump.All());
  const std::vector<std::string> files = dump.files();
  std::unordered_map<std::string, std::string> by_fingerprint;
  for (const auto& module : modules) {
    if (!module->fingerprint().empty()) by_fingerprint[module->fingerprint()] = module->name();
  }
  std::vector<HloCoverage> coverages;
  for (size_t i = 0; i < modules.size(); ++i) {
    coverages.push_back(
        CoverageOf(*modules[i], profile, TimesOf(*modules[i], times), by_fingerprint));
    coverages.back().file = files[i];
  }
  return coverages;
}

Result<std::vector<HloCoverage>> CoverageOf(const std::string& hlo_path, const CostProfile& profile,
                                            const std::string& spool_directory) {
  return CoverageOf(hlo_path, profile, {}, spool_directory);
}

}  // namespace pgle
