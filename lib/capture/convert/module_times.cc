#include "capture/convert/module_times.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace pgle {
namespace {

double RankUs(const std::vector<uint64_t>& sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  const size_t index = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return static_cast<double>(sorted[index]) / 1e3;
}

}  // namespace

StepTimes SummarizeSteps(std::vector<uint64_t> times) {
  StepTimes summary;
  summary.count = times.size();
  if (times.empty()) return summary;
  std::sort(times.begin(), times.end());
  summary.median_us = RankUs(times, 50);
  summary.p10_us = RankUs(times, 10);
  summary.p90_us = RankUs(times, 90);
  const uint64_t sum = std::accumulate(times.begin(), times.end(), uint64_t{0});
  summary.mean_us = static_cast<double>(sum) / 1e3 / static_cast<double>(times.size());
  return summary;
}

std::vector<ModuleRuns> TimeModules(const RangeMeanings& ranges, const Timeline& timeline,
                                    const CaptureWindow& window) {
  std::vector<std::map<uint32_t, std::vector<const ModuleRun*>>> by_module(ranges.modules().size());
  for (const ModuleRun& run : timeline.runs) {
    if (run.module != kNone) by_module[run.module][run.device].push_back(&run);
  }
  std::vector<ModuleRuns> modules;
  for (uint32_t i = 0; i < by_module.size(); ++i) {
    ModuleRuns& module = modules.emplace_back();
    module.name = ranges.modules()[i].name;
    module.program_id = ranges.modules()[i].program_id;
    module.devices = static_cast<uint32_t>(by_module[i].size());
    module.is_chosen = window.has_opened() && i == window.module();
    const std::vector<const ModuleRun*>* most = nullptr;
    for (const auto& [device, runs] : by_module[i]) {
      if (most == nullptr || runs.size() > most->size()) most = &runs;
    }
    if (most == nullptr) continue;
    module.executions = most->size();
    std::vector<uint64_t> outside, inside;
    for (size_t j = 0; j < most->size(); ++j) {
      const ModuleRun& run = *(*most)[j];
      module.starts.push_back(run.begin);
      // Where an execution in between was lost, the time is not that of one step.
      if (j + 1 == most->size() || (*most)[j + 1]->index != run.index + 1) continue;
      const uint64_t next = (*most)[j + 1]->begin;
      const bool touches =
          window.has_opened() && next > window.armed() && run.begin < window.closing();
      // What lies between, while the recorder arms and closes, is neither.
      if (!touches) {
        outside.push_back(next - run.begin);
      } else if (window.counts_steps() && module.is_chosen
                     ? window.HoldsRun(run)
                     : run.begin >= window.opened() && next <= window.closing()) {
        inside.push_back(next - run.begin);
      }
    }
    module.outside = SummarizeSteps(std::move(outside));
    module.inside = SummarizeSteps(std::move(inside));
  }
  return modules;
}

}  // namespace pgle
