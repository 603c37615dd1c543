#include "inspect/check.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <set>

#include "inspect/coverage.h"
#include "inspect/dump_evidence.h"
#include "inspect/log_scan.h"
#include "inspect/read_profile.h"

namespace pgle {
namespace {

struct Evidence {
  LogReport log;
  std::optional<CostProfile> profile;
  std::vector<HloCoverage> coverage;  // of --hlo by --profile
  std::vector<DumpEvidence> dump;
  std::set<std::string> profile_fingerprints;

  const HloCoverage* CoverageFor(const std::string& module,
                                 const std::set<std::string>& fingerprints) const {
    const HloCoverage* by_name = nullptr;
    for (const HloCoverage& candidate : coverage) {
      if (fingerprints.count(candidate.fingerprint) != 0) return &candidate;
      if (candidate.module != module) continue;
      // Two modules of one name: the worse one, since it is not known which of them ran.
      if (by_name == nullptr || candidate.share(true) < by_name->share(true)) by_name = &candidate;
    }
    // A name alone will not do where the log gives a fingerprint that the HLO does not have.
    return fingerprints.empty() ? by_name : nullptr;
  }
};

Result<Evidence> Gather(const CheckOptions& options, const ModuleFilter& is_users) {
  Evidence evidence;
  if (!options.profile.empty()) {
    PGLE_ASSIGN_OR_RETURN(evidence.profile,
                          ReadAnyProfile(options.profile, options.spool_directory));
    for (const InstructionCost& cost : evidence.profile->costs) {
      if (const size_t colons = cost.name.find("::"); colons != std::string::npos) {
        evidence.profile_fingerprints.insert(cost.name.substr(0, colons));
      }
    }
  }
  if (!options.hlo.empty()) {
    // Without a profile the look-ups are all missing, but names and fingerprints are known.
    PGLE_ASSIGN_OR_RETURN(
        evidence.coverage,
        CoverageOf(options.hlo, evidence.profile.value_or(CostProfile()), options.spool_directory));
  }
  if (!options.dump_directory.empty()) {
    PGLE_ASSIGN_OR_RETURN(evidence.dump,
                          ReadDumpEvidence(options.dump_directory, options.spool_directory));
    if (options.hlo.empty() && evidence.profile) {
      const auto coverage =
          CoverageOf(options.dump_directory, *evidence.profile, options.spool_directory);
      if (coverage.ok()) evidence.coverage = *coverage;
    }
  }
  PGLE_ASSIGN_OR_RETURN(evidence.log, ScanLogs(options.logs, is_users, options.spool_directory));
  return evidence;
}

// "every name carries another fingerprint", where the profile and the module's fingerprint are
// known.
void NameForeignFingerprint(const Evidence& evidence, ModuleVerdict* verdict) {
  if (verdict->verdict != Verdict::kNotUsed || verdict->found.value_or(1) != 0 ||
      !evidence.profile || verdict->fingerprint.empty()) {
    return;
  }
  for (const InstructionCost& cost : evidence.profile->costs) {
    const size_t colons = cost.name.find("::");
    if (colons == std::string::npos || cost.name.substr(0, colons) == verdict->fingerprint) return;
  }
  verdict->cause = fmt::format(
      "every name in the profile carries another fingerprint ({}{}), the "
      "module's is {}",
      *evidence.profile_fingerprints.begin(),
      evidence.profile_fingerprints.size() > 1 ? ", ..." : "", verdict->fingerprint);
}

// The log shows a profile in use, but is it the one given? XLA's missing names that this profile
// has under their own name, or not one look-up that it could have answered, say no.
void CheckIsSameProfile(const Evidence& evidence, const LogModule& module,
                        const HloCoverage* coverage, ModuleVerdict* verdict) {
  if (!evidence.profile || verdict->verdict != Verdict::kUsed || verdict->emulated) return;
  const auto deny = [&](std::string cause) {
    verdict->verdict = Verdict::kNotShown;
    verdict->cause = std::move(cause);
    verdict->fix = "give the profile that the run was told of" +
                   (verdict->source.empty() ? "" : ": " + verdict->source);
  };
  if (coverage != nullptr && coverage->found_lookups == 0 && coverage->undecided.empty() &&
      !coverage->missing.empty()) {
    return deny(
        "the log shows a profile in use, but the one given has none of the names that the "
        "module asks for");
  }
  std::set<std::string_view> missing;
  for (const LogCompile& compile : module.compiles) {
    if (!compile.mixed) missing.insert(compile.missing_names.begin(), compile.missing_names.end());
  }
  for (const InstructionCost& cost : evidence.profile->costs) {
    if (cost.name.find(".remat") != std::string::npos) return;  // XLA then rewrites every name
  }
  for (const InstructionCost& cost : evidence.profile->costs) {
    if (missing.count(cost.name) == 0) continue;
    return deny("the log shows a profile in use, but XLA missed " + cost.name +
                ", which the one given has");
  }
}

ModuleVerdict Judge(const LogProcess& process, const LogModule& module, const Evidence& evidence,
                    const CheckOptions& options) {
  const HloCoverage* coverage = evidence.CoverageFor(module.name, module.fingerprints);
  ModuleVerdict verdict =
      JudgeModule(process, module, evidence.profile ? coverage : nullptr, {options.min_coverage});
  if (verdict.fingerprint.empty() && coverage != nullptr)
    verdict.fingerprint = coverage->fingerprint;
  NameForeignFingerprint(evidence, &verdict);
  CheckIsSameProfile(evidence, module, coverage, &verdict);
  return verdict;
}

// The modules of one process that the verdict is about, and how they were chosen.
std::string ChooseTargets(std::vector<ModuleVerdict>& modules, const Evidence& evidence,
                          const CheckOptions& options) {
  const auto mark = [&](const auto& is_target) {
    bool any = false;
    for (ModuleVerdict& module : modules) any |= module.is_target = is_target(module);
    return any;
  };
  if (!options.module_pattern.empty()) {
    mark([](const ModuleVerdict&) { return true; });  // the scan kept no others
    return "modules that match " + options.module_pattern;
  }
  if (!evidence.profile_fingerprints.empty() && mark([&](const ModuleVerdict& module) {
        return evidence.profile_fingerprints.count(module.fingerprint) != 0;
      })) {
    return "modules whose fingerprint is in the profile";
  }
  // The user's module with most look-ups. Where nothing is missing XLA gives no count: then every
  // such module in which the scheduler had work is a target too.
  const bool any_scheduled = std::any_of(modules.begin(), modules.end(),
                                         [](const ModuleVerdict& m) { return m.scheduled; });
  uint64_t most = 0;
  for (const ModuleVerdict& module : modules) {
    if (any_scheduled && !module.scheduled) continue;
    most = std::max(most, module.found.value_or(0) + module.missing.value_or(0));
  }
  mark([&](const ModuleVerdict& module) {
    if (any_scheduled && !module.scheduled) return false;
    return (any_scheduled && !module.found) ||
           module.found.value_or(0) + module.missing.value_or(0) == most;
  });
  return "the user's module with most look-ups";
}

bool OnlyUnnamed(const LogProcess& process) {
  return process.small_modules.empty() &&
         std::all_of(process.modules.begin(), process.modules.end(),
                     [](const LogModule& module) { return module.name.empty(); });
}

// The process names modules, but none that the question is about.
ModuleVerdict TargetNotNamed(const LogProcess& process, const Evidence& evidence,
                             const CheckOptions& options) {
  ModuleVerdict verdict = JudgeProcess(process);
  verdict.is_target = true;
  if (verdict.verdict == Verdict::kNotUsed && process.missing_fingerprints.empty()) return verdict;
  for (const HloCoverage& module : evidence.coverage) {
    if (process.missing_fingerprints.count(module.fingerprint) == 0) continue;
    verdict.module = module.module;
    verdict.fingerprint = module.fingerprint;
    return verdict;
  }
  verdict.verdict = Verdict::kNotShown;
  uint64_t small = 0;
  for (const auto& [stem, count] : process.small_modules) small += count.compiles;
  verdict.cause =
      options.module_pattern.empty()
          ? fmt::format(
                "XLA names no module that looks like the user's (jit_, pjit_, pmap_) among "
                "{} others that it compiled with a profile",
                small)
          : fmt::format("XLA took a profile for no module that matches {}; it did for {} others",
                        options.module_pattern, small);
  verdict.fix = "name the module with --module; `pgle-inspect log` lists what the log names";
  return verdict;
}

void JudgeLogs(const Evidence& evidence, const CheckOptions& options, CheckReport* report) {
  std::set<std::string> files_with_lines;
  for (const LogProcess& process : evidence.log.processes) {
    files_with_lines.insert(process.file);
    for (const auto& [stem, count] : process.small_modules) {
      ++report->small_modules.stems;
      report->small_modules.compiles += count.compiles;
      report->small_modules.found += count.found;
      report->small_modules.missing += count.missing;
    }
    std::vector<ModuleVerdict> modules;
    const bool names_none = OnlyUnnamed(process);
    for (const LogModule& module : process.modules) {
      if (module.name.empty() && !names_none) continue;
      modules.push_back(Judge(process, module, evidence, options));
    }
    if (modules.empty()) {
      modules.push_back(names_none ? JudgeProcess(process)
                                   : TargetNotNamed(process, evidence, options));
      modules.back().is_target = true;
      if (report->target.empty()) report->target = "the process";
    } else {
      report->target = names_none && modules.size() == 1 && modules[0].module.empty()
                           ? "the process (this XLA names no module)"
                           : ChooseTargets(modules, evidence, options);
      if (modules.size() == 1 && modules[0].module.empty()) modules[0].is_target = true;
    }
    for (ModuleVerdict& verdict : modules) report->modules.push_back(std::move(verdict));
  }
  for (const LogReport::File& file : evidence.log.files) {
    if (files_with_lines.count(file.name) != 0) continue;
    LogProcess empty;
    empty.file = file.name;
    report->modules.push_back(JudgeProcess(empty));
    report->modules.back().cause = "the log holds no line of XLA at all";
    report->modules.back().is_target = true;
  }
}

// Without a log: what dump and HLO can say.
void JudgeWithoutLog(const Evidence& evidence, const ModuleFilter& is_users,
                     const CheckOptions& options, CheckReport* report) {
  for (const DumpEvidence& dump : evidence.dump) {
    if (!is_users(dump.module)) continue;
    report->modules.push_back(JudgeDump(dump, options.min_coverage));
  }
  if (report->modules.empty()) {
    for (const HloCoverage& coverage : evidence.coverage) {
      const bool by_fingerprint = evidence.profile_fingerprints.count(coverage.fingerprint) != 0;
      if (!is_users(coverage.module) && !by_fingerprint) continue;
      report->modules.push_back(JudgeCoverageAlone(coverage, evidence.profile.has_value()));
    }
  }
  if (!report->modules.empty()) {
    report->target = ChooseTargets(report->modules, evidence, options);
  }
}

// What the flags prove: the profile was not used, whatever the log is silent about.
void ApplyFlags(CheckReport* report) {
  if (!report->flags) return;
  const FlagFinding* decisive = nullptr;
  for (const FlagFinding& finding : report->flags->findings) {
    if (finding.kind == FlagFinding::Kind::kHidden) {
      report->notes.push_back(finding.cause + "; " + finding.fix);
    }
    const bool decides = finding.kind == FlagFinding::Kind::kIgnored && finding.by_flags_alone;
    if (decides && decisive == nullptr) decisive = &finding;
  }
  if (decisive == nullptr) return;
  bool contradicted = false;
  for (ModuleVerdict& module : report->modules) {
    if (!module.is_target) continue;
    contradicted |= module.verdict == Verdict::kUsed;
    if (module.verdict != Verdict::kNotShown) continue;
    module.verdict = Verdict::kNotUsed;
    module.cause = decisive->cause;
    module.fix = decisive->fix;
  }
  if (contradicted) {
    report->notes.push_back(
        "the flags given are not those of this run: by them XLA would ignore the "
        "profile (" +
        decisive->cause + "), but the log shows one");
  }
}

}  // namespace

Result<ModuleFilter> FilterForPattern(const std::string& pattern) {
  if (pattern.empty()) return ModuleFilter(IsFrameworkModule);
  auto expression = std::make_shared<RE2>(pattern, RE2::Quiet);
  if (!expression->ok()) {
    return UsageError("--module",
                      fmt::format("'{}' is no pattern: {}", pattern, expression->error()),
                      "RE2 syntax, like jit_train.*");
  }
  return ModuleFilter([expression](std::string_view module) {
    return RE2::PartialMatch(re2::StringPiece(module.data(), module.size()), *expression);
  });
}

Result<CheckReport> Check(const CheckOptions& options) {
  PGLE_ASSIGN_OR_RETURN(const ModuleFilter is_users, FilterForPattern(options.module_pattern));
  if (options.logs.empty() && options.dump_directory.empty() && options.hlo.empty() &&
      !options.xla_flags) {
    return UsageError("", "no evidence given", "name the log of the run with --log");
  }
  CheckReport report;
  PGLE_ASSIGN_OR_RETURN(const Evidence evidence, Gather(options, is_users));
  if (options.xla_flags) {
    FlagQuestion question;
    PGLE_ASSIGN_OR_RETURN(question.flags, ReadXlaFlags(*options.xla_flags));
    question.look_at_files = false;        // the job may have run elsewhere, and before
    question.environment.log_level = "0";  // not known here, so nothing is said of it
    report.flags = InspectFlags(question, options.spool_directory);
  }
  if (!options.logs.empty()) {
    JudgeLogs(evidence, options, &report);
  } else {
    JudgeWithoutLog(evidence, is_users, options, &report);
  }
  if (report.modules.empty()) {
    ModuleVerdict none;
    none.is_target = true;
    none.cause = options.logs.empty() && evidence.coverage.empty() && evidence.dump.empty()
                     ? "flags alone do not show what XLA did"
                     : "no module matches";
    none.fix = "give the log of the run with --log";
    report.target = "the process";
    report.modules.push_back(std::move(none));
  }
  ApplyFlags(&report);
  report.verdict = Verdict::kUsed;
  bool any = false;
  for (const ModuleVerdict& module : report.modules) {
    if (!module.is_target) continue;
    any = true;
    report.verdict = std::max(report.verdict, module.verdict);
  }
  if (!any) report.verdict = Verdict::kNotShown;
  return report;
}

}  // namespace pgle
