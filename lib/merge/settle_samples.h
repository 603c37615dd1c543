// All samples of one name of one module, over all processes, into one cost.
#pragma once

#include <optional>
#include <vector>

#include "merge/merge.h"
#include "profile/statistic.h"
#include "samples/sample_file.h"

namespace pgle {

struct SettleRules {
  Statistic statistic = Statistic::Median();
  Statistic collective_statistic = Statistic::Median();
};

struct SettledName {
  double cost_us = 0;
  CostSource source = CostSource::kMeasured;
  // Of each process by itself, the least and the largest cost.
  double min_us = 0, max_us = 0;
  uint32_t min_process = 0, max_process = 0;
  uint64_t processes = 0;  // with a duration
};

// Replaces the durations of communication by transfer times across processes: of the k-th execution
// of an op the shortest over all devices of all processes, where all devices ran it equally often
// and one group spans all that ran the name, or the group size is unknown. Point-to-point and
// several groups keep their durations: records do not say which devices belong together.
// Within a file that was done when the samples were written. The rule is that of
// extract/transfer_time.h, CorrectAcrossFiles. `records` are those of one module and name, sorted.
void CorrectAcrossProcesses(std::vector<SampleRecord>& records, SampleTotals* totals);

// `records` as above, after correction; their durations are used up. Measured durations decide over
// "ran without activity", what a call cost over both. Nothing where no record says anything.
std::optional<SettledName> SettleName(std::vector<SampleRecord>& records, const SettleRules& rules);

}  // namespace pgle
