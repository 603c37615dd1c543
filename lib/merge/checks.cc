#include "merge/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <thread>

#include "merge/hlo_difference.h"

namespace pgle {
namespace {

constexpr size_t kProcessesShown = 4;
constexpr size_t kInstructionsShown = 5;
constexpr size_t kSpreadsShown = 3;

std::string ListInstructions(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(kInstructionsShown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kInstructionsShown) {
    text += fmt::format(" and {} more", names.size() - kInstructionsShown);
  }
  return text;
}

// From the HLO where it is given, else from the names that have costs.
Status NameInstructions(const MergeOptions& options, const ProfileTable* table,
                        ModuleDrift* drift) {
  const auto [a, b] = OddFingerprints(*drift);
  if (a.empty() || b.empty()) return {};
  if (!options.hlo.empty()) {
    PGLE_ASSIGN_OR_RETURN(const auto modules,
                          FindModules(options.hlo, {a, b}, options.spool_directory));
    if (modules.size() == 2) {
      drift->instructions = DifferingInstructions(modules.at(a), modules.at(b));
      drift->instructions_from = "their HLO";
      return {};
    }
  }
  if (table == nullptr) return {};
  const std::vector<std::string> names_a = table->NamesUnder(a), names_b = table->NamesUnder(b);
  std::set_symmetric_difference(names_a.begin(), names_a.end(), names_b.begin(), names_b.end(),
                                std::back_inserter(drift->instructions));
  if (!drift->instructions.empty()) drift->instructions_from = "the names that have costs";
  return {};
}

Error DriftError(const ModuleDrift& drift) {
  std::string what = "processes compiled different versions: " + Describe(drift, kProcessesShown);
  if (!drift.instructions.empty()) {
    what += fmt::format("; by {} these instructions differ: {}", drift.instructions_from,
                        ListInstructions(drift.instructions));
  }
  return Refused(drift.module.empty() ? "drift" : drift.module, what,
                 "make the hosts compile alike (pin the autotuner's choices), or merge anyway with "
                 "--allow-drift");
}

void WarnAsError(const Error& error, Diagnostics* diagnostics) {
  diagnostics->Warn(error.where, error.what, error.hint);
}

}  // namespace

Status CheckProcesses(const std::vector<ModuleVersions>& versions, const MergeOptions& options,
                      const ProfileTable* table, Merged* merged) {
  merged->drift = FindDrift(versions);
  for (ModuleDrift& drift : merged->drift.modules) {
    PGLE_RETURN_IF_ERROR(NameInstructions(options, table, &drift));
    if (!IsRefusable(drift)) {
      merged->diagnostics.Warn(
          "drift",
          "some profiles hold more modules than others: " + Describe(drift, kProcessesShown),
          "right if those processes ran modules of their own; sample files "
          "tell by module name");
      continue;
    }
    Error error = DriftError(drift);
    if (options.allow_drift) {
      error.hint = "merged all the same, as --allow-drift says";
      WarnAsError(error, &merged->diagnostics);
    } else if (!merged->refusal) {
      merged->refusal = std::move(error);
    } else {
      WarnAsError(error, &merged->diagnostics);
    }
  }
  const DriftReport& drift = merged->drift;
  if (drift.checked == 0) {
    merged->diagnostics.Note("drift",
                             "not checked: no input carries a fingerprint, so whether the "
                             "processes compiled the same module is unknown",
                             "pgle-extract writes fingerprints where the trace or --hlo has the "
                             "HLO");
  } else if (drift.unchecked > 0) {
    merged->diagnostics.Note("drift",
                             fmt::format("{} of {} processes carry no fingerprint and were not "
                                         "checked",
                                         drift.unchecked, drift.unchecked + drift.checked));
  }
  const uint64_t expected = options.expect_processes;
  if (expected > 0 && merged->processes < expected) {
    const Error error =
        Refused("--expect-processes",
                fmt::format("processes: {} expected, {} found", expected, merged->processes),
                "find out which host wrote nothing; inputs that are equal count once");
    if (merged->refusal)
      WarnAsError(error, &merged->diagnostics);
    else
      merged->refusal = error;
  } else if (expected > 0 && merged->processes > expected) {
    merged->diagnostics.Warn(
        "--expect-processes",
        fmt::format("processes: {} expected, {} found", expected, merged->processes),
        "files of another run may lie among the inputs");
  }
  return {};
}

bool IsWide(double min_us, double max_us, double factor) {
  return max_us > factor * std::max(min_us, kSpreadFloorUs);
}

void ReportSpreads(const MergeOptions& options, Merged* merged) {
  std::vector<CostSpread>& spreads = merged->spreads;
  const auto ratio = [](const CostSpread& spread) {
    return spread.max_us / std::max(spread.min_us, kSpreadFloorUs);
  };
  std::sort(spreads.begin(), spreads.end(), [&](const CostSpread& a, const CostSpread& b) {
    return ratio(a) != ratio(b) ? ratio(a) > ratio(b) : a.name < b.name;
  });
  if (spreads.empty()) return;
  std::string shown;
  for (size_t i = 0; i < std::min(kSpreadsShown, spreads.size()); ++i) {
    const CostSpread& spread = spreads[i];
    shown += fmt::format("{}{} ({:.1f} us in {}, {:.1f} us in {})", i == 0 ? "" : ", ", spread.name,
                         spread.min_us, spread.min_process, spread.max_us, spread.max_process);
  }
  merged->diagnostics.Warn(
      "costs",
      fmt::format("{} {} by more than a factor of {:g} over processes: {}{}", spreads.size(),
                  spreads.size() == 1 ? "instruction differs" : "instructions differ",
                  options.max_spread, shown,
                  spreads.size() > kSpreadsShown
                      ? fmt::format(" and {} more", spreads.size() - kSpreadsShown)
                      : ""),
      merged->kind == InputKind::kProfiles ? "a slow host, another program, or collectives with "
                                             "their waiting; sample files take the "
                                             "waiting out"
                                           : "a slow host or another program; --json lists all");
}

std::string PercentileName(double percentile) {
  return fmt::format("p{:g}", percentile);
}

Status SettleUnreadable(std::vector<Error> errors, size_t total, const MergeOptions& options,
                        Merged* merged) {
  if (errors.empty()) return {};
  if (!options.skip_unreadable) {
    Error first = std::move(errors.front());
    if (errors.size() > 1) {
      first.what += fmt::format(" ({} more of {} inputs cannot be read)", errors.size() - 1, total);
    }
    first.hint += (first.hint.empty() ? "" : ", or ") +
                  std::string("skip such inputs with --failure-mode warn");
    return first;
  }
  for (const Error& error : errors) {
    merged->diagnostics.Warn(error.where, "skipped: " + error.what, error.hint);
  }
  merged->skipped = std::move(errors);
  if (merged->skipped.size() < total) return {};
  return Failed(merged->skipped.front().where,
                fmt::format("none of {} inputs can be read; this one: {}", total,
                            merged->skipped.front().what),
                merged->skipped.front().hint);
}

void RunParallel(size_t count, int jobs, const std::function<void(size_t, size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto loop = [&](size_t thread) {
    for (size_t i = next++; i < count; i = next++) work(i, thread);
  };
  std::vector<std::thread> helpers;
  for (size_t t = 1; t < std::min(count, static_cast<size_t>(std::max(jobs, 1))); ++t) {
    helpers.emplace_back(loop, t);
  }
  loop(0);
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace pgle
