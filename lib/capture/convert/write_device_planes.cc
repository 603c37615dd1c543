#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>

#include "capture/convert/kernel_details.h"
#include "capture/convert/write_planes.h"
#include "trace/wire_encode.h"

namespace pgle {
namespace {

// XProf numbers a plane's lines by their ids, so lanes have to differ from streams.
constexpr uint64_t kLaneStride = uint64_t{1} << 24;

// Only what is mangled: "a" would come back as "signed char".
std::string Demangle(std::string_view name) {
  if (name.substr(0, 2) != "_Z") return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&free)> plain(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : std::string(name);
}

// What equal events share: all but their times and numbers.
struct EventKind {
  RecordKind kind;
  uint32_t name;  // of kernels, in kKernelNames; of copies their kind
  uint32_t op, module;
  uint32_t details;  // number of the text

  auto Key() const { return std::tie(kind, name, op, module, details); }
  bool operator<(const EventKind& other) const { return Key() < other.Key(); }
};

// The texts of details, by what they are made of.
class DetailTexts {
 public:
  explicit DetailTexts(const recorder::DeviceInfo* device) : device_(device) {}

  uint32_t NumberOf(const DeviceRow& row) {
    switch (row.kind) {
      case RecordKind::kKernel: {
        const recorder::KernelRecord& kernel = row.kernel();
        static_assert(sizeof(kernel.grid) == 12 && sizeof(kernel.block) == 12);
        const KernelShape shape = {kernel.registers,
                                   kernel.static_shared_bytes,
                                   kernel.dynamic_shared_bytes,
                                   kernel.grid[0],
                                   kernel.grid[1],
                                   kernel.grid[2],
                                   kernel.block[0],
                                   kernel.block[1],
                                   kernel.block[2]};
        const auto [it, added] = kernels_.try_emplace(shape, 0);
        if (added) it->second = Add(KernelDetails(kernel, device_));
        return it->second;
      }
      case RecordKind::kCopy:
        return Intern(CopyDetails(row.copy()));
      case RecordKind::kSet:
        break;
    }
    return Intern(SetDetails(row.set()));
  }
  const std::string& operator[](uint32_t number) const { return texts_[number]; }

 private:
  using KernelShape = std::array<uint32_t, 9>;
  uint32_t Add(std::string text) {
    texts_.push_back(std::move(text));
    return static_cast<uint32_t>(texts_.size() - 1);
  }
  uint32_t Intern(std::string text) {
    const auto [it, added] = others_.try_emplace(text, 0);
    if (added) it->second = Add(std::move(text));
    return it->second;
  }

  const recorder::DeviceInfo* device_;
  std::vector<std::string> texts_;
  std::map<KernelShape, uint32_t> kernels_;
  std::unordered_map<std::string, uint32_t> others_;
};

class DevicePlaneBuilder {
 public:
  DevicePlaneBuilder(const CaptureTables& tables, std::span<const DeviceRow> rows)
      : tables_(tables),
        rows_(rows),
        device_(FindDevice()),
        details_(device_),
        plane_(fmt::format("/device:GPU:{}", rows.front().device), rows.front().device) {}

  Status Write(XSpaceWriter* space) {
    NameKinds();
    AddDeviceStats();
    for (size_t begin = 0; begin < rows_.size();) {
      size_t end = begin;
      while (end < rows_.size() && rows_[end].stream == rows_[begin].stream &&
             rows_[end].lane == rows_[begin].lane) {
        ++end;
      }
      AddLine(begin, end);
      begin = end;
    }
    return space->Plane(plane_);
  }

 private:
  const recorder::DeviceInfo* FindDevice() const {
    for (const recorder::DeviceInfo& device : tables_.spill.devices) {
      if (device.ordinal == rows_.front().device) return &device;
    }
    return nullptr;
  }

  EventKind KindOf(const DeviceRow& row) {
    EventKind kind{row.kind, 0, row.op, row.module, details_.NumberOf(row)};
    if (row.kind == RecordKind::kKernel) kind.name = row.kernel().name;
    if (row.kind == RecordKind::kCopy) kind.name = row.copy().copy_kind;
    if (row.kind == RecordKind::kSet) kind.name = row.set().memory_kind;
    return kind;
  }

  // Gives the smallest ids to the most frequent.
  void NameKinds() {
    for (const char* name : {"correlation_id", "scope_range_id", "hlo_op", "hlo_module",
                             "program_id", "kernel_details"}) {
      plane_.StatId(name);
    }
    std::map<EventKind, uint32_t> numbers;
    std::vector<std::pair<uint64_t, EventKind>> kinds;  // how often
    kind_of_row_.reserve(rows_.size());
    for (const DeviceRow& row : rows_) {
      const EventKind kind = KindOf(row);
      const auto [it, added] = numbers.try_emplace(kind, kinds.size());
      if (added) kinds.push_back({0, kind});
      ++kinds[it->second].first;
      kind_of_row_.push_back(it->second);
    }
    std::vector<uint32_t> order(kinds.size()), place(kinds.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return kinds[a].first > kinds[b].first; });
    for (uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      AddKind(kinds[order[i]].second);
    }
    for (uint32_t& kind : kind_of_row_) kind = place[kind];
  }

  void AddStatTo(std::string* fields, std::string_view name, std::string_view text) {
    *fields += StatField(RefStat(plane_.StatId(name), plane_.StatId(text)));
  }

  // XProf takes op, module, program and details from the events alone, not from their metadata.
  void AddKind(const EventKind& kind) {
    std::string stats;
    if (kind.module != kNone) {
      const CapturedModule& module = tables_.ranges.modules()[kind.module];
      AddStatTo(&stats, "hlo_module", module.name);
      stats += StatField(IntegerStat(plane_.StatId("program_id"), module.program_id));
    }
    if (kind.op != kNone) {
      const CapturedOp& op = tables_.ranges.ops()[kind.op];
      AddStatTo(&stats, "hlo_op", op.name);
      // The HLO says the same where it is known.
      if (!op.op_name.empty() && !tables_.has_hlo[kind.module]) {
        AddStatTo(&stats, "name", op.op_name);
      }
    }
    AddStatTo(&stats,
              kind.kind == RecordKind::kKernel ? "kernel_details"
              : kind.kind == RecordKind::kCopy ? "memcpy_details"
                                               : "Memset_details",
              details_[kind.details]);
    const std::string name = NameOf(kind);
    const auto [it, added] = metadata_.try_emplace(name, 0);
    if (added) it->second = plane_.AddEventMetadata(name, {}, {});
    kinds_.push_back({it->second, std::move(stats)});
  }

  std::string NameOf(const EventKind& kind) {
    switch (kind.kind) {
      case RecordKind::kKernel:
        return Demangle(tables_.spill.kernel_names[kind.name]);
      case RecordKind::kCopy:
        return std::string(CopyName(static_cast<uint8_t>(kind.name)));
      case RecordKind::kSet:
        break;
    }
    // As XLA names it, with CUPTI's kind of memory.
    return fmt::format("Memset {}", kind.name);
  }

  void AddDeviceStats() {
    plane_.AddStat(TextStat(plane_.StatId("device_vendor"), "Nvidia"));
    if (device_ != nullptr) {
      const recorder::DeviceInfo& device = *device_;
      const auto integer = [&](const char* name, int64_t value) {
        plane_.AddStat(IntegerStat(plane_.StatId(name), value));
      };
      const auto text = [&](const char* name, const char* value, size_t size) {
        plane_.AddStat(
            TextStat(plane_.StatId(name), std::string_view(value, strnlen(value, size))));
      };
      text("gpu_device_name", device.name, sizeof(device.name));
      integer("clock_rate", device.clock_khz);
      integer("core_count", device.multiprocessors);
      // Two transfers a clock, in bytes.
      plane_.AddStat(
          UnsignedStat(plane_.StatId("memory_bandwidth"),
                       uint64_t{2} * device.memory_clock_khz * 1000 * device.memory_bus_bits / 8));
      plane_.AddStat(UnsignedStat(plane_.StatId("memory_size"), device.memory_bytes));
      integer("compute_cap_major", device.compute_major);
      integer("compute_cap_minor", device.compute_minor);
      text("pci_bus_id", device.pci_bus_id, sizeof(device.pci_bus_id));
    }
    plane_.AddStat(IntegerStat(plane_.StatId("process_id"), tables_.spill.process.pid));
  }

  void AddLine(size_t begin, size_t end) {
    std::string kinds;
    for (std::string_view kind : ActivitiesOf(begin, end)) {
      if (!kinds.empty()) kinds += ',';
      kinds += kind;
    }
    const DeviceRow& first = rows_[begin];
    std::string name = fmt::format("Stream #{}({})", first.stream, kinds);
    if (first.lane > 0) name += fmt::format(" overlap {}", first.lane);
    const uint64_t origin = first.start;
    plane_.AddLine(static_cast<int64_t>(first.stream + first.lane * kLaneStride), std::move(name),
                   static_cast<int64_t>(origin - tables_.start_ns),
                   [this, begin, end, origin](EventSink& sink) {
                     std::string stats;
                     for (size_t i = begin; i < end; ++i) {
                       const DeviceRow& row = rows_[i];
                       stats.clear();
                       AppendUnsignedStatField(stats, kCorrelationId, row.group);
                       AppendIntegerStatField(stats, kScopeRangeId,
                                              static_cast<int64_t>(row.scope));
                       const uint32_t kind = kind_of_row_[i];
                       sink.Add(kinds_[kind].metadata, ToPicoseconds(row.start - origin),
                                ToPicoseconds(row.end - row.start), kinds_[kind].stats, stats);
                     }
                   });
  }

  std::vector<std::string_view> ActivitiesOf(size_t begin, size_t end) const {
    std::set<std::pair<RecordKind, uint8_t>> seen;
    for (size_t i = begin; i < end; ++i) {
      const RecordKind kind = rows_[i].kind;
      seen.emplace(kind, kind == RecordKind::kCopy ? rows_[i].copy().copy_kind : 0);
    }
    std::vector<std::string_view> names;
    for (const auto& [kind, copy_kind] : seen) {
      names.push_back(kind == RecordKind::kKernel ? "Compute"
                      : kind == RecordKind::kCopy ? CopyName(copy_kind)
                                                  : "Memset");
    }
    return names;
  }

  static constexpr uint64_t kCorrelationId = 1, kScopeRangeId = 2;  // as NameKinds asks for them

  const CaptureTables& tables_;
  const std::span<const DeviceRow> rows_;
  const recorder::DeviceInfo* device_;
  DetailTexts details_;
  PlaneWriter plane_;
  struct Kind {
    uint64_t metadata;  // id
    std::string stats;  // encoded, as all its events have them
  };
  std::vector<Kind> kinds_;
  std::vector<uint32_t> kind_of_row_;
  std::unordered_map<std::string, uint64_t> metadata_;  // by name
};

}  // namespace

Status WriteDevicePlanes(const CaptureTables& tables, XSpaceWriter* space) {
  const std::span<const DeviceRow> rows = tables.rows.rows;
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    while (end < rows.size() && rows[end].device == rows[begin].device) ++end;
    PGLE_RETURN_IF_ERROR(DevicePlaneBuilder(tables, rows.subspan(begin, end - begin)).Write(space));
    begin = end;
  }
  return {};
}

}  // namespace pgle
