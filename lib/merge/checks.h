// The checks that are the same for profiles and sample files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "merge/merge.h"

namespace pgle {

// Drift and the number of processes: fills merged->drift and, where one says no, merged->refusal;
// notes and warnings go to merged->diagnostics. `table`: for naming instructions; may be null.
// Errors: HLO that was given cannot be read.
Status CheckProcesses(const std::vector<ModuleVersions>& versions, const MergeOptions& options,
                      const ProfileTable* table, Merged* merged);

// Whether max is more than `factor` times min, costs below kSpreadFloorUs counting as that much.
bool IsWide(double min_us, double max_us, double factor);

// Sorts merged->spreads and warns of them.
void ReportSpreads(const MergeOptions& options, Merged* merged);

// "p90", "p99.5".
std::string PercentileName(double percentile);

// The error for unreadable inputs, or, with skip_unreadable, warnings: `errors` are those of
// `total` inputs. Nothing readable at all is an error in any case.
Status SettleUnreadable(std::vector<Error> errors, size_t total, const MergeOptions& options,
                        Merged* merged);

// What stands in the way of the per-module files; fills merged->module_files.
Status PlanOutputs(const MergeOptions& options, Merged* merged);

// Runs work(i) for i in 0..count-1 on up to `jobs` threads; work(i, thread) learns its thread.
void RunParallel(size_t count, int jobs, const std::function<void(size_t, size_t)>& work);

}  // namespace pgle
