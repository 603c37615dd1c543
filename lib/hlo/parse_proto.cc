// HloProto to HloModule, on the wire: field numbers from proto/hlo.proto, everything else skipped.
#include <fmt/format.h>

#include <algorithm>
#include <protozero/pbf_message.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hlo/module.h"
#include "hlo/module_builder.h"
#include "hlo/opcodes.h"
#include "hlo/replica_groups.h"

namespace pgle {
namespace {

using Bytes = protozero::data_view;
using Tag = protozero::pbf_tag_type;
using protozero::pbf_reader;

constexpr std::string_view kFingerprintAttribute = "fingerprint_before_lhs";

std::string_view ToView(Bytes bytes) {
  return {bytes.data(), bytes.size()};
}

struct RawComputation {
  Bytes bytes;
  int64_t id = 0;
  int64_t root_id = 0;
  uint32_t index = 0;
};

struct RawInstruction {
  uint32_t index;
  std::vector<int64_t> operand_ids, called_ids;
};

// The value of fingerprint_before_lhs in a FrontendAttributes message.
std::string_view Fingerprint(pbf_reader attributes) {
  std::string_view found;
  while (attributes.next(1)) {
    pbf_reader entry = attributes.get_message();
    std::string_view key, value;
    while (entry.next()) {
      switch (entry.tag()) {
        case 1:
          key = ToView(entry.get_view());
          break;
        case 2:
          value = ToView(entry.get_view());
          break;
        default:
          entry.skip();
      }
    }
    if (key == kFingerprintAttribute) found = value;
  }
  return found;
}

// Repeated integers, packed or not.
void AppendIntegers(pbf_reader& message, std::vector<int64_t>* out) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (int64_t value : message.get_packed_int64()) out->push_back(value);
  } else {
    out->push_back(message.get_int64());
  }
}

void ReadReplicaGroup(pbf_reader group, HloInstruction* collective) {
  std::vector<int64_t> ids;
  while (group.next(1)) AppendIntegers(group, &ids);
  collective->group_size = std::max(collective->group_size, static_cast<int64_t>(ids.size()));
  collective->groups.push_back(std::move(ids));
}

void ReadDeviceList(pbf_reader list, HloInstruction* collective) {
  collective->group_size = 0;
  collective->groups.clear();
  while (list.next(1)) ReadReplicaGroup(list.get_message(), collective);
}

void ReadIotaList(pbf_reader list, HloInstruction* collective) {
  int64_t count = 0, size = 0;
  std::vector<int64_t> dims, perm;
  while (list.next()) {
    switch (list.tag()) {
      case 1:
        count = list.get_int64();
        break;
      case 2:
        size = list.get_int64();
        break;
      case 3:
        AppendIntegers(list, &dims);
        break;
      case 4:
        AppendIntegers(list, &perm);
        break;
      default:
        list.skip();
    }
  }
  collective->group_size = size;
  collective->groups = IotaGroups(count, size, dims, perm);
}

// Groups span the mesh axes, or parts of axes, that the list names.
void ReadMeshList(pbf_reader list, HloInstruction* collective) {
  std::vector<int64_t> axis_sizes;
  std::vector<std::pair<int64_t, int64_t>> used;  // axis, size of the part; 0 for the whole axis
  bool is_row_major = true;
  while (list.next()) {
    switch (list.tag()) {
      case 1: {
        pbf_reader mesh = list.get_message();
        while (mesh.next()) {
          if (mesh.tag() != 1) {  // an order of devices of its own
            is_row_major = false;
            mesh.skip();
            continue;
          }
          pbf_reader axis = mesh.get_message();
          int64_t size = 0;
          while (axis.next(2)) size = axis.get_int64();
          axis_sizes.push_back(size);
        }
        break;
      }
      case 2: {
        pbf_reader reference = list.get_message();
        int64_t axis = 0, part = 0;
        while (reference.next()) {
          if (reference.tag() == 1) {
            axis = reference.get_int64();
          } else if (reference.tag() == 2) {  // sub_axis_info: pre_size = 1, size = 2
            pbf_reader sub_axis = reference.get_message();
            while (sub_axis.next(2)) part = sub_axis.get_int64();
          } else {
            reference.skip();
          }
        }
        used.push_back({axis, part});
        break;
      }
      default:
        list.skip();
    }
  }
  collective->group_size = 0;
  collective->groups.clear();
  int64_t size = 1;
  std::vector<int64_t> grouped;
  for (const auto& [axis, part] : used) {
    if (axis < 0 || axis >= static_cast<int64_t>(axis_sizes.size())) return;
    const int64_t factor = part != 0 ? part : axis_sizes[static_cast<size_t>(axis)];
    if (__builtin_mul_overflow(size, factor, &size)) return;
    if (part == 0) grouped.push_back(axis);
  }
  collective->group_size = size;
  if (is_row_major && grouped.size() == used.size()) {
    collective->groups = MeshGroups(axis_sizes, grouped);
  }
}

// DeviceAssignmentProto: replica_count = 1, computation_count = 2, computation_devices = 3 with
// replica_device_ids = 1. Ids count partitions within replicas.
std::vector<int64_t> DeviceAssignment(pbf_reader assignment) {
  std::vector<std::vector<int64_t>> by_partition;
  while (assignment.next(3)) {
    pbf_reader devices = assignment.get_message();
    auto& ids = by_partition.emplace_back();
    while (devices.next(1)) AppendIntegers(devices, &ids);
  }
  std::vector<int64_t> flat;
  const size_t replicas = by_partition.empty() ? 0 : by_partition.front().size();
  for (size_t replica = 0; replica < replicas; ++replica) {
    for (const auto& ids : by_partition) {
      if (ids.size() != replicas) return {};
      flat.push_back(ids[replica]);
    }
  }
  return flat;
}

class ProtoParser {
 public:
  explicit ProtoParser(HloDetail detail) : detail_(detail) {}

  Result<HloModule> Parse(std::string_view bytes, const std::string& name) {
    pbf_reader file(bytes.data(), bytes.size());
    bool has_module = false;
    while (file.next()) {
      if (file.tag() == 1 && file.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
        ReadModule(file.get_message());
        has_module = true;
      } else {
        file.skip();
      }
    }
    if (!has_module) {
      return Failed(name, "holds no HLO module",
                    "give a file *_gpu_after_optimizations.hlo.pb or .txt of an XLA dump");
    }
    for (RawComputation& computation : computations_) ReadComputation(computation);
    PGLE_RETURN_IF_ERROR(Connect(name));
    OrderBySchedule();
    return builder_.Finish(name);
  }

 private:
  void ReadModule(pbf_reader module) {
    int64_t group_entry = 0;
    while (module.next()) {
      switch (module.tag()) {
        case 1:
          builder_.SetName(ToView(module.get_view()));
          break;
        case 3:
          computations_.push_back({module.get_view()});
          break;
        case 5:
          builder_.SetId(module.get_int64());
          break;
        case 6:
          group_entry = module.get_int64();
          break;
        case 7:
          builder_.SetScheduled();
          schedule_ = module.get_view();
          break;
        case 15:
          builder_.SetDeviceIds(DeviceAssignment(module.get_message()));
          break;
        case 19:
          builder_.SetFingerprint(Fingerprint(module.get_message()));
          break;
        default:
          module.skip();
      }
    }
    entry_id_ = group_entry;
  }

  void ReadComputation(RawComputation& raw) {
    std::vector<Bytes> instructions;
    std::string_view name;
    pbf_reader computation(raw.bytes);
    while (computation.next()) {
      switch (computation.tag()) {
        case 1:
          name = ToView(computation.get_view());
          break;
        case 2:
          instructions.push_back(computation.get_view());
          break;
        case 5:
          raw.id = computation.get_int64();
          break;
        case 6:
          raw.root_id = computation.get_int64();
          break;
        default:
          computation.skip();
      }
    }
    raw.index = builder_.AddComputation(name);
    by_computation_id_[raw.id] = raw.index;
    if (raw.id == entry_id_) builder_.SetEntry(raw.index);
    for (Bytes instruction : instructions) ReadInstruction(instruction, raw);
  }

  void ReadInstruction(Bytes bytes, const RawComputation& computation) {
    HloInstruction instruction;
    instruction.computation = computation.index;
    RawInstruction raw{0, {}, {}};
    std::string_view fingerprint;
    pbf_reader message(bytes);
    while (message.next()) {
      switch (message.tag()) {
        case 1:
          instruction.name = builder_.Intern(ToView(message.get_view()));
          break;
        case 2:
          instruction.opcode = builder_.Intern(ToView(message.get_view()));
          break;
        case 7: {
          pbf_reader metadata = message.get_message();
          while (metadata.next(16)) {
            instruction.scheduling_name = builder_.Intern(ToView(metadata.get_view()));
          }
          break;
        }
        case 35:
          instruction.id = message.get_int64();
          break;
        case 36:
          AppendIntegers(message, &raw.operand_ids);
          break;
        case 38:
          AppendIntegers(message, &raw.called_ids);
          break;
        case 43:
          if (detail_ == HloDetail::kBackendConfigs) {
            instruction.backend_config = builder_.Intern(ToView(message.get_view()));
          } else {
            message.skip();
          }
          break;
        case 49:
          ReadReplicaGroup(message.get_message(), &instruction);
          break;
        case 52: {
          pbf_reader pair = message.get_message();
          int64_t source = 0, target = 0;
          while (pair.next()) {
            switch (pair.tag()) {
              case 1:
                source = pair.get_int64();
                break;
              case 2:
                target = pair.get_int64();
                break;
              default:
                pair.skip();
            }
          }
          instruction.source_target_pairs.push_back({source, target});
          break;
        }
        case 68:
          fingerprint = Fingerprint(message.get_message());
          break;
        case 87:
          ReadDeviceList(message.get_message(), &instruction);
          break;
        case 92:
          ReadIotaList(message.get_message(), &instruction);
          break;
        case 93:
          ReadMeshList(message.get_message(), &instruction);
          break;
        default:
          message.skip();
      }
    }
    instruction.groups = Limited(std::move(instruction.groups));
    const int64_t id = instruction.id;
    if (id == computation.root_id && computation.id == entry_id_ && !fingerprint.empty()) {
      builder_.SetRootFingerprint(fingerprint);
    }
    raw.index = builder_.AddInstruction(std::move(instruction));
    by_instruction_id_[id] = raw.index;
    if (id == computation.root_id) builder_.computation(computation.index).root = raw.index;
    instructions_.push_back(std::move(raw));
  }

  Status Connect(const std::string& name) {
    for (const RawInstruction& raw : instructions_) {
      HloInstruction& instruction = builder_.instruction(raw.index);
      for (int64_t id : raw.operand_ids) {
        const auto operand = by_instruction_id_.find(id);
        if (operand == by_instruction_id_.end()) {
          return Failed(
              name,
              fmt::format("'{}' has an operand that does not exist (id {})", instruction.name, id),
              "the module is damaged: dump it again");
        }
        instruction.operands.push_back(operand->second);
      }
      for (int64_t id : raw.called_ids) {
        const auto called = by_computation_id_.find(id);
        if (called == by_computation_id_.end()) {
          return Failed(name,
                        fmt::format("'{}' calls a computation that does not exist (id {})",
                                    instruction.name, id),
                        "the module is damaged: dump it again");
        }
        instruction.calls.push_back(called->second);
      }
    }
    return {};
  }

  // HloScheduleProto: sequences = 1, a map from computation id to instruction ids.
  void OrderBySchedule() {
    pbf_reader schedule(schedule_);
    while (schedule.next(1)) {
      pbf_reader entry = schedule.get_message();
      int64_t computation_id = 0;
      std::vector<int64_t> ids;
      while (entry.next()) {
        switch (entry.tag()) {
          case 1:
            computation_id = entry.get_int64();
            break;
          case 2: {
            pbf_reader sequence = entry.get_message();
            while (sequence.next(1)) AppendIntegers(sequence, &ids);
            break;
          }
          default:
            entry.skip();
        }
      }
      const auto computation = by_computation_id_.find(computation_id);
      if (computation == by_computation_id_.end()) continue;
      std::vector<uint32_t> order;
      for (int64_t id : ids) {
        const auto instruction = by_instruction_id_.find(id);
        if (instruction != by_instruction_id_.end()) order.push_back(instruction->second);
      }
      // A schedule of anything but the computation's own instructions, each once, is no schedule.
      std::vector<uint32_t>& kept = builder_.computation(computation->second).instructions;
      std::vector<uint32_t> own = kept, scheduled = order;
      std::sort(own.begin(), own.end());
      std::sort(scheduled.begin(), scheduled.end());
      if (own == scheduled) kept = std::move(order);
    }
  }

  const HloDetail detail_;
  HloModuleBuilder builder_;
  int64_t entry_id_ = 0;
  Bytes schedule_;
  std::vector<RawComputation> computations_;
  std::vector<RawInstruction> instructions_;
  std::unordered_map<int64_t, uint32_t> by_computation_id_, by_instruction_id_;
};

Error NotHlo(const std::string& name, const char* why) {
  return Failed(name, fmt::format("not an HLO module, or cut short: {}", why),
                "give a file *_gpu_after_optimizations.hlo.pb or .txt of an XLA dump");
}

}  // namespace

Result<HloModule> ParseHloProto(std::string_view bytes, const std::string& name, HloDetail detail) {
  try {
    return ProtoParser(detail).Parse(bytes, name);
  } catch (const protozero::exception& e) {
    return NotHlo(name, e.what());
  }
}

}  // namespace pgle
