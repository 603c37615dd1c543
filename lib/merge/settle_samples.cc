#include "merge/settle_samples.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace pgle {
namespace {

bool IsCommunication(SampleClass sample_class) {
  return sample_class == SampleClass::kCollective || sample_class == SampleClass::kPointToPoint;
}

bool TakesPart(const SampleRecord& record) {
  return IsCommunication(record.sample_class) && !record.durations.empty();
}

// Devices that ran any op of the name.
size_t DevicesOf(const std::vector<SampleRecord>& records) {
  std::set<std::pair<uint32_t, uint32_t>> devices;
  for (const SampleRecord& record : records) {
    if (TakesPart(record)) devices.insert({record.process, record.device});
  }
  return devices.size();
}

// `op`: the records of one run-time op. `name_devices`: devices that ran the name.
void CorrectOp(std::span<SampleRecord> op, size_t name_devices, SampleTotals* totals) {
  std::vector<std::vector<Picoseconds>*> devices;
  uint64_t executions = 0;
  bool several_processes = false, equal_counts = true, one_group = true;
  const SampleRecord* first = nullptr;
  for (SampleRecord& record : op) {
    if (!TakesPart(record)) continue;
    if (first == nullptr) first = &record;
    several_processes |= record.process != first->process;
    equal_counts &= record.durations.size() == first->durations.size();
    one_group &= record.sample_class == SampleClass::kCollective &&
                 (record.group_size == 0 || record.group_size >= name_devices);
    executions += record.durations.size();
    devices.push_back(&record.durations);
  }
  if (!several_processes || !equal_counts || !one_group) {
    totals->unmatched += executions;
    return;
  }
  totals->matched += executions;
  for (size_t k = 0; k < devices.front()->size(); ++k) {
    Picoseconds shortest = (*devices.front())[k];
    for (const auto* durations : devices) shortest = std::min(shortest, (*durations)[k]);
    for (auto* durations : devices) {
      totals->plain += (*durations)[k];
      totals->removed += (*durations)[k] - shortest;
      (*durations)[k] = shortest;
    }
  }
}

CostSource SourceOf(SampleClass sample_class) {
  switch (sample_class) {
    case SampleClass::kNoActivity:
      return CostSource::kNoActivity;
    case SampleClass::kAsyncPair:
      return CostSource::kAsyncPair;
    case SampleClass::kCalled:
      return CostSource::kCalled;
    default:
      return CostSource::kMeasured;
  }
}

}  // namespace

void CorrectAcrossProcesses(std::vector<SampleRecord>& records, SampleTotals* totals) {
  const size_t devices = DevicesOf(records);
  for (size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && records[end].op == records[begin].op) ++end;
    CorrectOp({records.data() + begin, end - begin}, devices, totals);
  }
}

std::optional<SettledName> SettleName(std::vector<SampleRecord>& records,
                                      const SettleRules& rules) {
  const bool called = std::any_of(records.begin(), records.end(), [](const SampleRecord& record) {
    return record.sample_class == SampleClass::kCalled && !record.durations.empty();
  });
  std::vector<const SampleRecord*> used;
  bool no_activity = false, communication = false;
  for (const SampleRecord& record : records) {
    no_activity |= record.sample_class == SampleClass::kNoActivity;
    if (record.durations.empty() || (called && record.sample_class != SampleClass::kCalled))
      continue;
    used.push_back(&record);
    communication |= IsCommunication(record.sample_class);
  }
  SettledName settled;
  if (used.empty()) {
    settled.source = CostSource::kNoActivity;
    return no_activity ? std::optional(settled) : std::nullopt;
  }
  settled.source = SourceOf(used.front()->sample_class);
  const Statistic& statistic = communication ? rules.collective_statistic : rules.statistic;
  std::stable_sort(used.begin(), used.end(), [](const SampleRecord* a, const SampleRecord* b) {
    return a->process < b->process;
  });
  std::vector<Picoseconds> all, own;
  for (size_t begin = 0, end = 0; begin < used.size(); begin = end) {
    own.clear();
    for (; end < used.size() && used[end]->process == used[begin]->process; ++end) {
      own.insert(own.end(), used[end]->durations.begin(), used[end]->durations.end());
    }
    all.insert(all.end(), own.begin(), own.end());
    const double cost_us = statistic.Of(own);
    if (settled.processes == 0 || cost_us < settled.min_us) {
      settled.min_us = cost_us;
      settled.min_process = used[begin]->process;
    }
    if (settled.processes == 0 || cost_us > settled.max_us) {
      settled.max_us = cost_us;
      settled.max_process = used[begin]->process;
    }
    ++settled.processes;
  }
  settled.cost_us = statistic.Of(all);
  return settled;
}

}  // namespace pgle
