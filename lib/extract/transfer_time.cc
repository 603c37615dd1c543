#include "extract/transfer_time.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace pgle {
namespace {

using Devices = std::vector<DeviceSamples*>;

Picoseconds EndOf(const Execution& execution) {
  return execution.start + execution.duration;
}

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

// Whether the k-th executions run at one time.
bool Overlap(const Devices& devices, size_t k) {
  Picoseconds last_start = std::numeric_limits<Picoseconds>::min();
  Picoseconds first_end = std::numeric_limits<Picoseconds>::max();
  for (const DeviceSamples* device : devices) {
    last_start = std::max(last_start, device->executions[k].start);
    first_end = std::min(first_end, EndOf(device->executions[k]));
  }
  return last_start < first_end;
}

void SettleKth(const Devices& devices, size_t k, bool point_to_point, TransferReport* report) {
  std::vector<Execution*> participants;
  for (DeviceSamples* device : devices) participants.push_back(&device->executions[k]);
  Settle(participants, point_to_point, report);
}

void Leave(const Devices& devices, TransferReport* report) {
  for (const DeviceSamples* device : devices) report->unmatched += device->executions.size();
}

// The k-th execution of each device. `must_overlap`: all of one group, so all run at one time.
bool MatchByOrder(const Devices& devices, bool must_overlap, bool point_to_point,
                  TransferReport* report) {
  if (!CountsAreEqual(devices)) return false;
  const size_t count = devices.front()->executions.size();
  for (size_t k = 0; must_overlap && k < count; ++k) {
    if (!Overlap(devices, k)) return false;
  }
  for (size_t k = 0; k < count; ++k) SettleKth(devices, k, point_to_point, report);
  return true;
}

// Several groups that cannot be told apart: settled where all run at one time, else left.
void MatchWhereAllOverlap(const Devices& devices, TransferReport* report) {
  if (devices.size() < 2 || !CountsAreEqual(devices)) return Leave(devices, report);
  for (size_t k = 0; k < devices.front()->executions.size(); ++k) {
    if (Overlap(devices, k))
      SettleKth(devices, k, /*point_to_point=*/false, report);
    else
      report->unmatched += devices.size();
  }
}

// Executions that run at the same time, at most one a device.
void MatchByOverlap(const Devices& devices, bool point_to_point, TransferReport* report) {
  std::vector<std::pair<Execution*, const DeviceSamples*>> all;
  for (DeviceSamples* device : devices) {
    for (Execution& execution : device->executions) all.push_back({&execution, device});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first->start < b.first->start; });
  std::vector<Execution*> participants;
  std::vector<const DeviceSamples*> seen;
  Picoseconds first_end = 0;
  const auto close = [&] {
    if (participants.size() > 1)
      Settle(participants, point_to_point, report);
    else
      report->unmatched += participants.size();
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

// Where a module ran.
struct Placement {
  std::map<uint32_t, std::set<int64_t>> ordinals;  // of the devices, by process
  // The ids of the HLO are the ordinals 0..n-1 of the one process that ran the module.
  bool ids_are_ordinals = false;
};

Placement PlacementOf(const ModuleSamples& module) {
  Placement placement;
  for (const NameSamples& samples : module.names) {
    for (const RuntimeOp& op : samples.ops) {
      for (const DeviceSamples& device : op.devices) {
        placement.ordinals[device.process].insert(device.ordinal);
      }
    }
  }
  if (placement.ordinals.size() != 1 || module.processes.size() > 1) return placement;
  const std::set<int64_t>& ordinals = placement.ordinals.begin()->second;
  placement.ids_are_ordinals =
      *ordinals.begin() == 0 && *ordinals.rbegin() + 1 == static_cast<int64_t>(ordinals.size());
  // A module of more devices than were traced, or a mesh with an order of its own.
  if (module.hlo != nullptr && !module.hlo->device_ids().empty()) {
    placement.ids_are_ordinals &=
        std::equal(ordinals.begin(), ordinals.end(), module.hlo->device_ids().begin(),
                   module.hlo->device_ids().end());
  }
  return placement;
}

// The devices of each component of the pairs. Devices in no pair lose their executions.
std::vector<Devices> ByComponent(const NameSamples& samples, const Devices& devices, size_t ids,
                                 TransferReport* report) {
  const std::vector<int> component = Components(samples.pairs, ids);
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

// The devices of each replica group. Empty unless the groups share out the ids 0..n-1: replica ids
// of a module that also has partitions do not.
std::vector<Devices> ByGroup(const NameSamples& samples, const Devices& devices, size_t ids) {
  std::vector<size_t> group_of(ids, samples.groups.size());
  size_t placed = 0;
  for (size_t group = 0; group < samples.groups.size(); ++group) {
    for (int64_t id : samples.groups[group]) {
      if (id < 0 || static_cast<size_t>(id) >= ids) return {};
      size_t& of = group_of[static_cast<size_t>(id)];
      if (of != samples.groups.size()) return {};
      of = group;
      ++placed;
    }
  }
  if (placed != ids) return {};
  std::vector<Devices> result(samples.groups.size());
  for (DeviceSamples* device : devices) {
    result[group_of[static_cast<size_t>(device->ordinal)]].push_back(device);
  }
  return result;
}

bool IsCommunication(const NameSamples& samples) {
  return samples.cost_class != CostClass::kCompute;
}

// The devices of one op in one file.
void CorrectPointToPoint(const NameSamples& samples, const Placement& placement,
                         const Devices& devices, size_t ids, TransferReport* report) {
  const bool are_mapped =
      placement.ids_are_ordinals &&
      std::all_of(samples.pairs.begin(), samples.pairs.end(), [&](const auto& pair) {
        return std::min(pair.first, pair.second) >= 0 &&
               std::max(pair.first, pair.second) < static_cast<int64_t>(ids);
      });
  std::vector<Devices> components;
  if (are_mapped && !samples.pairs.empty()) {
    components = ByComponent(samples, devices, ids, report);
  } else if (samples.pairs.empty() && placement.ordinals.size() == 1) {
    components = {devices};  // the HLO does not say who is idle
  } else {
    return Leave(devices, report);
  }
  for (const Devices& component : components) {
    if (component.size() < 2) {
      Leave(component, report);
    } else if (!MatchByOrder(component, /*must_overlap=*/false, /*point_to_point=*/true, report)) {
      // In order they need not overlap: a send that fits into a buffer is over before the receiver
      // begins.
      MatchByOverlap(component, /*point_to_point=*/true, report);
    }
  }
}

void CorrectCollective(const NameSamples& samples, const Placement& placement,
                       const Devices& devices, size_t ids, TransferReport* report) {
  std::vector<Devices> groups;
  if (placement.ids_are_ordinals) groups = ByGroup(samples, devices, ids);
  if (groups.empty()) {
    if (samples.group_size > 0 && samples.group_size < static_cast<int64_t>(ids)) {
      return MatchWhereAllOverlap(devices, report);
    }
    groups = {devices};
  }
  for (const Devices& group : groups) {
    if (group.size() < 2) {
      Leave(group, report);
    } else if (!MatchByOrder(group, /*must_overlap=*/true, /*point_to_point=*/false, report)) {
      MatchByOverlap(group, /*point_to_point=*/false, report);
    }
  }
}

void CorrectOp(const NameSamples& samples, const Placement& placement, RuntimeOp& op,
               TransferReport* report) {
  std::map<uint32_t, Devices> by_process;
  for (DeviceSamples& device : op.devices) {
    if (device.has_times)
      by_process[device.process].push_back(&device);
    else
      report->unmatched += device.executions.size();
  }
  const auto correct =
      samples.cost_class == CostClass::kPointToPoint ? &CorrectPointToPoint : &CorrectCollective;
  for (const auto& [process, devices] : by_process) {
    correct(samples, placement, devices, placement.ordinals.at(process).size(), report);
  }
}

// Devices that ran any op of a name.
size_t DevicesOf(const NameSamples& samples) {
  std::set<std::pair<uint32_t, int64_t>> devices;
  for (const RuntimeOp& op : samples.ops) {
    for (const DeviceSamples& device : op.devices) {
      if (!device.executions.empty()) devices.insert({device.process, device.ordinal});
    }
  }
  return devices.size();
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
  const Placement placement = PlacementOf(module);
  for (NameSamples& samples : module.names) {
    if (!IsCommunication(samples)) continue;
    size_t devices = 0;
    for (RuntimeOp& op : samples.ops) {
      devices = std::max(devices, op.devices.size());
      CorrectOp(samples, placement, op, &report);
    }
    if (samples.group_size > static_cast<int64_t>(devices)) ++report.small_groups;
  }
  return report;
}

TransferReport CorrectAcrossFiles(ModuleSamples& module) {
  TransferReport report;
  for (NameSamples& samples : module.names) {
    if (samples.cost_class != CostClass::kCollective) continue;
    // Several groups, and the ids do not say which devices of which file are one.
    if (samples.group_size > 0 && samples.group_size < static_cast<int64_t>(DevicesOf(samples))) {
      continue;
    }
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
