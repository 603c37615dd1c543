#include "inspect/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace pgle {
namespace {

constexpr const char* kShowInfo =
    "set TF_CPP_MIN_LOG_LEVEL=0 (JAX sets 1 where it is unset) and keep standard error";
constexpr const char* kShowCounts =
    "give --hlo and --profile, or set --xla_gpu_pgle_accuracy_checker=PGLE_STRICTNESS_LEVEL_WARN "
    "and "
    "run again";

double ShareOf(uint64_t found, uint64_t missing) {
  const uint64_t all = found + missing;
  return all == 0 ? 0 : static_cast<double>(found) / static_cast<double>(all);
}

// Every count of the process is 0: not this module alone has none of the names.
bool NothingFoundAnywhere(const LogProcess& process) {
  uint64_t found = 0;
  for (const LogModule& module : process.modules) {
    for (const LogCompile& compile : module.compiles) found += compile.found.value_or(0);
  }
  for (const auto& [stem, count] : process.small_modules) found += count.found;
  return found == 0;
}

void Set(ModuleVerdict* out, Verdict verdict, std::string cause, std::string fix = "") {
  out->verdict = verdict;
  out->cause = std::move(cause);
  out->fix = std::move(fix);
}

void JudgeCounts(const LogProcess& process, const LogCompile& compile, const VerdictRules& rules,
                 ModuleVerdict* out) {
  const uint64_t found = *out->found, missing = *out->missing;
  const double share = ShareOf(found, missing);
  const bool enough = found > 0 && share >= rules.min_coverage;
  if (compile.mixed && !enough && compile.best_found && compile.best_missing &&
      ShareOf(*compile.best_found, *compile.best_missing) >= rules.min_coverage) {
    return Set(out, Verdict::kNotShown,
               "the lines of several threads are mixed and carry no thread id, so it is not clear "
               "which counts are this module's",
               "give --hlo and --profile to `pgle-inspect coverage`");
  }
  if (found == 0) {
    return Set(
        out, Verdict::kNotUsed,
        NothingFoundAnywhere(process)
            ? "not one cost applied, here or in any other module of the process: the names "
              "carry the fingerprint of another module, or come from another program"
            : "not one cost applied: the profile has none of the names that this module asks "
              "for",
        "make the profile from this program, built by the same XLA; "
        "`pgle-inspect coverage` names the fingerprints");
  }
  if (!enough) {
    return Set(out, Verdict::kNotUsed,
               fmt::format("{:.1f} % of what the module asks for has a cost, {:.1f} % are needed",
                           100 * share, 100 * rules.min_coverage),
               "make a new profile from this program; `pgle-inspect coverage` says why names are "
               "missing");
  }
  Set(out, Verdict::kUsed, "");
}

void JudgeWithoutCounts(const LogProcess& process, const LogCompile& compile,
                        const HloCoverage* coverage, const VerdictRules& rules,
                        ModuleVerdict* out) {
  if (compile.found || compile.lines_lost) {
    return Set(out, Verdict::kNotShown, "lines of the log are lost: counts or names stand alone",
               "keep the whole log");
  }
  if (coverage != nullptr) {
    out->emulated = true;
    out->found = coverage->found_lookups;
    out->missing = coverage->missing.size();
    if (coverage->found_lookups == 0 && coverage->missing.empty() && coverage->undecided.empty()) {
      return Set(out, Verdict::kNotShown, "the module asks for no cost",
                 "name the module that trains with --module");
    }
    // Strict: undecided look-ups may be missing, so they count as if they were.
    const double share = coverage->share(true);
    if (coverage->found_lookups > 0 && share >= rules.min_coverage) {
      return Set(out, Verdict::kUsed, "");
    }
    return Set(out, Verdict::kNotUsed,
               coverage->found_lookups == 0
                   ? "XLA took the profile, but it has none of the names that this module asks for"
                   : fmt::format("{:.1f} % of what the module asks for has a cost, {:.1f} % are "
                                 "needed",
                                 100 * share, 100 * rules.min_coverage),
               "`pgle-inspect coverage` says why names are missing");
  }
  if (compile.may_not_apply) {
    return Set(out, Verdict::kNotShown, "XLA says that the profile may not apply to this module",
               "give --hlo and --profile");
  }
  const bool checker_is_on =
      compile.checker_spoke_on_thread || (process.checker_spoke && process.starts == 1);
  if (!checker_is_on) {
    return Set(
        out, Verdict::kNotShown,
        "\"Found profile\" alone proves nothing: nothing was missing, or the accuracy checker "
        "was off, or this XLA has none (before July 2024)",
        kShowCounts);
  }
  if (!compile.scheduled && compile.verbose_hits == 0) {
    return Set(out, Verdict::kNotShown,
               "nothing was missing, but nothing shows that the scheduler asked for a cost here",
               "give --hlo and --profile");
  }
  Set(out, Verdict::kUsed, "");
}

ModuleVerdict JudgeCompile(const LogProcess& process, const LogCompile& compile,
                           const HloCoverage* coverage, const VerdictRules& rules) {
  ModuleVerdict out;
  out.source = SourceText(compile);
  out.scheduled = compile.scheduled;
  out.found = compile.found;
  out.missing = compile.missing;
  if (compile.discarded) {
    Set(&out, Verdict::kNotUsed,
        "the accuracy checker made the compile fail "
        "(--xla_gpu_pgle_accuracy_checker=PGLE_STRICTNESS_LEVEL_ERROR)",
        "complete the profile, or set PGLE_STRICTNESS_LEVEL_WARN");
  } else if (compile.not_applicable) {
    Set(&out, Verdict::kNotUsed, "XLA dropped the profile: \"likely not applicable to the module\"",
        "make the profile from this program");
  } else if (!compile.profile_found && !compile.found) {
    Set(&out, Verdict::kNotUsed,
        compile.failure.empty() ? "XLA scheduled the module without reading a profile"
                                : compile.failure,
        compile.failure.empty() ? "`pgle-inspect flags` says how XLA reads XLA_FLAGS"
                                : "give the path that XLA can read, with the ending .pb or .pbtxt");
  } else if (compile.found && compile.missing) {
    JudgeCounts(process, compile, rules, &out);
  } else {
    JudgeWithoutCounts(process, compile, coverage, rules, &out);
  }
  return out;
}

// Of the compiles that log lines without a module name came from, those that may be the user's: of
// those where the scheduler had work, the one with most look-ups and those with unknown ones.
bool MayBeTheUsers(const LogModule& module, const LogCompile& compile) {
  if (!module.name.empty()) return true;
  bool any_scheduled = false;
  for (const LogCompile& other : module.compiles) any_scheduled |= other.scheduled;
  if (any_scheduled && !compile.scheduled) return false;
  uint64_t most = 0;
  for (const LogCompile& other : module.compiles) {
    if (!any_scheduled || other.scheduled) most = std::max(most, other.lookups());
  }
  return compile.lookups() == most || (any_scheduled && !compile.found);
}

// A log of several processes without labels: each of them must have compiled the module.
void CheckAllProcesses(const LogProcess& process, uint64_t used_compiles, ModuleVerdict* out) {
  if (out->verdict != Verdict::kUsed || process.starts <= std::max<uint64_t>(1, used_compiles)) {
    return;
  }
  Set(out, Verdict::kNotShown,
      fmt::format("the log mixes {} processes, and {} of them {} shown to use the profile",
                  process.starts, used_compiles, used_compiles == 1 ? "is" : "are"),
      "keep one log a process, or label the lines (srun --label, mpirun --tag-output)");
}

void JudgeCaches(const LogModule& module, ModuleVerdict* out) {
  if (module.pgle_cache_miss) {
    Set(out, Verdict::kNotUsed,
        "JAX loaded the executable that was compiled without a profile: its cache holds no "
        "PGLE-optimized one",
        "fill the cache with JAX_ENABLE_PGLE=true and more steps than JAX_PGLE_PROFILING_RUNS");
  } else if (module.pgle_cache_hit && module.compiles.empty()) {
    Set(out, Verdict::kNotShown,
        "JAX loaded a PGLE-optimized executable from its cache; the cache's key does not hold the "
        "profile, so the log cannot say which one it was compiled with",
        "check the log of the run that filled the cache, or run with an empty "
        "JAX_COMPILATION_CACHE_DIR");
  } else if (module.plain_cache_hit && module.compiles.empty()) {
    Set(out, Verdict::kNotShown,
        "JAX loaded the executable from its compilation cache, XLA compiled nothing",
        "run with an empty JAX_COMPILATION_CACHE_DIR");
  } else if (module.pgle_cache_write && module.compiles.empty()) {
    Set(out, Verdict::kNotUsed, "JAX expected a PGLE-optimized executable and compiled without one",
        "fill the cache with JAX_ENABLE_PGLE=true first");
  }
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  return verdict == Verdict::kUsed      ? "used"
         : verdict == Verdict::kNotUsed ? "not used"
                                        : "not shown";
}

std::optional<double> ModuleVerdict::share() const {
  if (!found || !missing || *found + *missing == 0) return std::nullopt;
  return ShareOf(*found, *missing);
}

ModuleVerdict JudgeModule(const LogProcess& process, const LogModule& module,
                          const HloCoverage* coverage, const VerdictRules& rules) {
  std::optional<ModuleVerdict> worst;
  uint64_t used_compiles = 0;
  for (const LogCompile& compile : module.compiles) {
    if (!MayBeTheUsers(module, compile)) continue;
    ModuleVerdict verdict = JudgeCompile(process, compile, coverage, rules);
    if (verdict.verdict == Verdict::kUsed) used_compiles += compile.times;
    const bool worse = !worst || verdict.verdict > worst->verdict ||
                       (verdict.verdict == worst->verdict &&
                        verdict.share().value_or(1) < worst->share().value_or(1));
    if (worse) worst = std::move(verdict);
  }
  ModuleVerdict out = worst.value_or(ModuleVerdict());
  CheckAllProcesses(process, used_compiles, &out);
  JudgeCaches(module, &out);
  out.module = module.name;
  if (!module.fingerprints.empty()) out.fingerprint = *module.fingerprints.begin();
  if (module.compiles_left_out > 0 && out.verdict == Verdict::kUsed && !module.name.empty()) {
    Set(&out, Verdict::kNotShown,
        fmt::format("more than {} different compiles of one name", LogModule::kMaxCompiles),
        "check the log of a shorter run");
  }
  out.file = process.file;
  out.label = process.label;
  out.attempt = process.attempt;
  return out;
}

ModuleVerdict JudgeProcess(const LogProcess& process) {
  ModuleVerdict out;
  out.file = process.file;
  out.label = process.label;
  out.attempt = process.attempt;
  if (!process.unknown_flags.empty()) {
    Set(&out, Verdict::kNotUsed,
        "XLA ended at a flag that it does not know: " + process.unknown_flags, "correct XLA_FLAGS");
  } else if (!process.unreadable_files.empty()) {
    const auto& [path, message] = *process.unreadable_files.begin();
    Set(&out, Verdict::kNotUsed,
        fmt::format("XLA could not parse {}{}{}", path.empty() ? "the profile" : path,
                    message.empty() ? "" : ": ", message),
        "the ending decides the format: .pb is binary, .pbtxt is text");
  } else if (!process.missing_files.empty()) {
    const auto& [path, count] = *process.missing_files.begin();
    if (path.ends_with('/')) {
      Set(&out, Verdict::kNotUsed,
          fmt::format("{} holds no <fingerprint>.pb or .pbtxt for any of the {} fingerprints that "
                      "XLA asked for",
                      path.substr(0, path.size() - 1), process.missing_fingerprints.size()),
          "write them with pgle-extract --per-module, or name a file instead of the directory");
    } else {
      Set(&out, Verdict::kNotUsed, "the profile does not exist: " + path,
          "check the path as the job sees it (container mounts, working directory)");
    }
  } else if (!process.cupti_errors.empty()) {
    const std::string& name = process.cupti_errors.begin()->first;
    const bool contended = name.find("MULTIPLE_SUBSCRIBERS") != name.npos;
    Set(&out, Verdict::kNotUsed,
        contended ? "JAX could not profile: another tool holds CUPTI (" + name + ")"
                  : "JAX could not profile: " + name,
        contended
            ? "run without nsys, ncu, DCGM profiling or a second profiler, or fill JAX's cache "
              "first and set JAX_COMPILATION_CACHE_EXPECT_PGLE=yes"
            : "look the CUPTI error up; the driver may not permit profiling");
  } else if (process.empty_traces > 0) {
    Set(&out, Verdict::kNotUsed,
        "JAX profiled and got an empty trace, so it had no profile to give",
        "run without another tool that holds CUPTI (nsys, ncu, DCGM profiling)");
  } else if (process.unreadable_fdo > 0) {
    Set(&out, Verdict::kNotUsed, "XLA could not parse the fdo_profile that it was given",
        "give a serialized ProfiledInstructionsProto");
  } else if (process.discarded > 0) {
    Set(&out, Verdict::kNotUsed, "the accuracy checker made the compile fail",
        "complete the profile, or set PGLE_STRICTNESS_LEVEL_WARN");
  } else if (!process.shows_info) {
    Set(&out, Verdict::kNotShown,
        "the log holds no line about a profile, and no line of level INFO", kShowInfo);
  } else {
    Set(&out, Verdict::kNotShown,
        "the log holds no line about a profile though INFO lines are shown: XLA read none, or "
        "compiled nothing",
        "give the job's flags with --xla-flags: they say whether XLA was told of a profile");
  }
  return out;
}

}  // namespace pgle
