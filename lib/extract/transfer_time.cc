#include "extract/transfer_time.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace pgle {
namespace {

using Devices = std::vector<DeviceSamples*>;

Picoseconds EndOf(const Execution& execution) { return execution.start + execution.duration; }

bool CountsAreEqual(const Devices& devices) {
  return std::all_of(devices.begin(), devices.end(), [&](const DeviceSamples* device) {
    return device->executions.size() == devices.front()->executions.size();
  });
}

// Sets the participants of one execution to their transfer time.
void Settle(const std::vector<Execution*>& participants, bool point_to_point,
            TransferReport* report) {
  Picoseconds value = std::numeric_limits<Picoseconds>::max();
  Picoseconds latest = std::numeric_limits<Picoseconds>::min();
  for (const Execution* execution : participants) {
    if (!point_to_point) {
      value = std::min(value, execution->duration);
    } else if (execution->start > latest) {
      latest = execution->start;
      value = execution->duration;
    }
  }
  for (Execution* execution : participants) {
    report->plain += execution->duration;
    report->removed += std::max(Picoseconds{0}, execution->duration - value);
    execution->duration = std::min(execution->duration, value);
  }
  report->matched += participants.size();
}

// The k-th execution of each device. `must_overlap`: all of one group, so all run at one time.
bool MatchByOrder(const Devices& devices, bool must_overlap, bool point_to_point,
                  TransferReport* report) {
  if (!CountsAreEqual(devices)) return false;
  const size_t count = devices.front()->executions.size();
  for (size_t k = 0; must_overlap && k < count; ++k) {
    Picoseconds last_start = std::numeric_limits<Picoseconds>::min();
    Picoseconds first_end = std::numeric_limits<Picoseconds>::max();
    for (const DeviceSamples* device : devices) {
      last_start = std::max(last_start, device->executions[k].start);
      first_end = std::min(first_end, EndOf(device->executions[k]));
    }
    if (last_start >= first_end) return false;
  }
  std::vector<Execution*> participants;
  for (size_t k = 0; k < count; ++k) {
    participants.clear();
    for (DeviceSamples* device : devices) participants.push_back(&device->executions[k]);
    Settle(participants, point_to_point, report);
  }
  return true;
}

// Executions that run at the same time, at most one a device.
void MatchByOverlap(const Devices& devices, bool point_to_point, TransferReport* report) {
  std::vector<std::pair<Execution*, const DeviceSamples*>> all;
  for (DeviceSamples* device : devices) {
    for (Execution& execution : device->executions) all.push_back({&execution, device});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.first->start < b.first->start;
  });
  std::vector<Execution*> participants;
  std::vector<const DeviceSamples*> seen;
  Picoseconds first_end = 0;
  const auto close = [&] {
    if (participants.size() > 1) Settle(participants, point_to_point, report);
    else report->unmatched += participants.size();
    participants.clear();
    seen.clear();
  };
  for (const auto& [execution, device] : all) {
    const bool joins = !participants.empty() && execution->start < first_end &&
                       std::find(seen.begin(), seen.end(), device) == seen.end();
    if (!joins) {
      close();
      first_end = EndOf(*execution);
    }
    participants.push_back(execution);
    seen.push_back(device);
    first_end = std::min(first_end, EndOf(*execution));
  }
  close();
}

// Connected components of the pairs over devices 0..n-1; -1 for a device in no pair.
std::vector<int> Components(const std::vector<std::pair<int64_t, int64_t>>& pairs, size_t n) {
  std::vector<int> root(n);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[static_cast<size_t>(i)] != i) i = root[static_cast<size_t>(i)];
    return i;
  };
  std::vector<bool> used(n);
  for (const auto& [source, target] : pairs) {
    used[static_cast<size_t>(source)] = used[static_cast<size_t>(target)] = true;
    root[static_cast<size_t>(find(static_cast<int>(source)))] = find(static_cast<int>(target));
  }
  std::vector<int> component(n, -1);
  for (size_t i = 0; i < n; ++i) {
    if (used[i]) component[i] = find(static_cast<int>(i));
  }
  return component;
}

// Devices by component where the pairs' ids can be those of this file's devices.
std::vector<Devices> ByComponent(const NameSamples& samples, const Devices& devices,
                                 TransferReport* report) {
  const auto n = static_cast<int64_t>(devices.size());
  for (const auto& [source, target] : samples.pairs) {
    if (source < 0 || target < 0 || source >= n || target >= n) return {devices};
  }
  for (const DeviceSamples* device : devices) {
    if (device->ordinal < 0 || device->ordinal >= n) return {devices};
  }
  if (samples.pairs.empty()) return {devices};
  const std::vector<int> component = Components(samples.pairs, devices.size());
  std::map<int, Devices> grouped;
  for (DeviceSamples* device : devices) {
    const int id = component[static_cast<size_t>(device->ordinal)];
    if (id >= 0) {
      grouped[id].push_back(device);
    } else {
      report->idle += device->executions.size();
      device->executions.clear();
    }
  }
  std::vector<Devices> result;
  for (auto& [id, group] : grouped) result.push_back(std::move(group));
  return result;
}

bool IsCommunication(const NameSamples& samples) {
  return samples.cost_class != CostClass::kCompute;
}

void CorrectOp(const NameSamples& samples, RuntimeOp& op, TransferReport* report) {
  const bool point_to_point = samples.cost_class == CostClass::kPointToPoint;
  std::map<uint32_t, Devices> by_process;
  for (DeviceSamples& device : op.devices) {
    if (device.has_times) by_process[device.process].push_back(&device);
    else report->unmatched += device.executions.size();
  }
  for (auto& [process, devices] : by_process) {
    const std::vector<Devices> groups =
        point_to_point ? ByComponent(samples, devices, report) : std::vector<Devices>{devices};
    for (const Devices& group : groups) {
      if (group.size() < 2) {
        for (const DeviceSamples* device : group) report->unmatched += device->executions.size();
        continue;
      }
      // Several replica groups in one file need not run at one time, and a send that fits into a
      // buffer is over before the receiver begins.
      const bool at_one_time = !point_to_point &&
                               (samples.group_size == 0 ||
                                samples.group_size >= static_cast<int64_t>(group.size()));
      if (!MatchByOrder(group, at_one_time, point_to_point, report)) {
        MatchByOverlap(group, point_to_point, report);
      }
    }
  }
}

}  // namespace

TransferReport& TransferReport::operator+=(const TransferReport& other) {
  matched += other.matched;
  unmatched += other.unmatched;
  idle += other.idle;
  plain += other.plain;
  removed += other.removed;
  small_groups += other.small_groups;
  return *this;
}

TransferReport CorrectWithinFiles(ModuleSamples& module) {
  TransferReport report;
  for (NameSamples& samples : module.names) {
    if (!IsCommunication(samples)) continue;
    size_t devices = 0;
    for (RuntimeOp& op : samples.ops) {
      devices = std::max(devices, op.devices.size());
      CorrectOp(samples, op, &report);
    }
    if (samples.group_size > static_cast<int64_t>(devices)) ++report.small_groups;
  }
  return report;
}

TransferReport CorrectAcrossFiles(ModuleSamples& module) {
  TransferReport report;
  for (NameSamples& samples : module.names) {
    if (!IsCommunication(samples)) continue;
    for (RuntimeOp& op : samples.ops) {
      Devices devices;
      std::set<uint32_t> processes;
      std::map<uint32_t, size_t> devices_of;
      for (DeviceSamples& device : op.devices) {
        if (device.executions.empty() || !device.has_times) continue;
        devices.push_back(&device);
        processes.insert(device.process);
        ++devices_of[device.process];
      }
      if (processes.size() < 2) continue;
      // The clocks of two files are not one: order decides, and the shortest is the transfer.
      TransferReport op_report;
      if (!MatchByOrder(devices, /*must_overlap=*/false, /*point_to_point=*/false, &op_report)) {
        continue;
      }
      report.removed += op_report.removed;
      // Executions alone in their file were counted as unmatched there.
      for (const DeviceSamples* device : devices) {
        if (devices_of[device->process] > 1) continue;
        report.matched += device->executions.size();
        report.unmatched -= device->executions.size();
        report.plain += std::accumulate(
            device->executions.begin(), device->executions.end(), Picoseconds{0},
            [](Picoseconds sum, const Execution& execution) { return sum + execution.duration; });
      }
    }
  }
  return report;
}

}  // namespace pgle
