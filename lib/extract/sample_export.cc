#include "extract/sample_export.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "samples/sample_file.h"

namespace pgle {
namespace {

SampleClass ClassOf(const NameSamples& samples) {
  if (samples.is_async_other) return SampleClass::kAsyncPair;
  switch (samples.cost_class) {
    case CostClass::kCompute:
      return SampleClass::kCompute;
    case CostClass::kCollective:
      return SampleClass::kCollective;
    case CostClass::kPointToPoint:
      return SampleClass::kPointToPoint;
  }
  return SampleClass::kCompute;
}

// Where each of n things goes when sorted by `before`.
template <typename Before>
std::vector<uint32_t> SortedPositions(size_t n, Before before) {
  std::vector<uint32_t> order(n), position(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), before);
  for (uint32_t i = 0; i < n; ++i) position[order[i]] = i;
  return position;
}

class Exporter {
 public:
  Exporter(const Extraction& extraction, const std::string& statistic) : extraction_(extraction) {
    const auto& processes = extraction.processes;
    const auto& modules = extraction.samples;
    process_at_ = SortedPositions(processes.size(), [&](uint32_t a, uint32_t b) {
      return processes[a].sha256 < processes[b].sha256;
    });
    module_at_ = SortedPositions(modules.size(), [&](uint32_t a, uint32_t b) {
      return std::tie(modules[a].fingerprint, modules[a].name) <
             std::tie(modules[b].fingerprint, modules[b].name);
    });
    header_.statistic = statistic;
    header_.processes.resize(processes.size());
    for (size_t i = 0; i < processes.size(); ++i) {
      header_.processes[process_at_[i]] = {processes[i].sha256, processes[i].name,
                                           processes[i].devices};
    }
    header_.modules.resize(modules.size());
    for (size_t i = 0; i < modules.size(); ++i) {
      SampleModule& module = header_.modules[module_at_[i]];
      module.name = modules[i].name;
      module.fingerprint = modules[i].fingerprint;
      module.device_time = modules[i].busy;
      for (uint32_t process : modules[i].processes)
        module.processes.push_back(process_at_[process]);
      std::sort(module.processes.begin(), module.processes.end());
    }
  }

  const SampleHeader& header() const { return header_; }

  std::vector<SampleRecord> Records() const {
    std::vector<SampleRecord> records;
    for (size_t m = 0; m < extraction_.samples.size(); ++m) AppendModule(m, &records);
    std::sort(records.begin(), records.end(), ComesBefore);
    return records;
  }

 private:
  void AppendModule(size_t m, std::vector<SampleRecord>* records) const {
    const ModuleSamples& module = extraction_.samples[m];
    const ModuleCosts& costs = extraction_.costs[m];
    SampleRecord record;
    record.module = module_at_[m];
    for (const NamedCost& cost : costs.costs) {
      const NameSamples* samples = module.Find(cost.name);
      record.name = cost.name;
      record.op.clear();
      record.durations.clear();
      record.process = record.device = record.group_size = 0;
      if (cost.source == CostSource::kCalled) {
        record.sample_class = SampleClass::kCalled;
        record.process = process_at_[*module.processes.begin()];
        record.durations = {std::llround(cost.cost_us * 1e6)};
        records->push_back(record);
      } else if (cost.source == CostSource::kAlias) {
        continue;
      } else if (samples == nullptr ||
                 (cost.source == CostSource::kAsyncPair && cost.cost_us == 0)) {
        record.sample_class = SampleClass::kNoActivity;
        records->push_back(record);
      } else {
        AppendName(*samples, record, records);
      }
    }
  }

  void AppendName(const NameSamples& samples, SampleRecord record,
                  std::vector<SampleRecord>* records) const {
    record.sample_class = ClassOf(samples);
    record.group_size = static_cast<uint32_t>(samples.group_size);
    for (const RuntimeOp& op : samples.ops) {
      record.op = op.name == samples.name ? "" : op.name;
      for (const DeviceSamples& device : op.devices) {
        if (device.executions.empty()) continue;
        record.process = process_at_[device.process];
        record.device = static_cast<uint32_t>(device.ordinal);
        record.durations.clear();
        for (const Execution& execution : device.executions) {
          record.durations.push_back(execution.duration);
        }
        records->push_back(record);
      }
    }
  }

  const Extraction& extraction_;
  SampleHeader header_;
  std::vector<uint32_t> process_at_, module_at_;
};

}  // namespace

Status WriteSamples(const std::string& path, const Extraction& extraction,
                    const std::string& statistic) {
  const Exporter exporter(extraction, statistic);
  PGLE_ASSIGN_OR_RETURN(SampleWriter writer, SampleWriter::Create(path, exporter.header()));
  for (const SampleRecord& record : exporter.Records()) PGLE_RETURN_IF_ERROR(writer.Add(record));
  return writer.Finish();
}

}  // namespace pgle
