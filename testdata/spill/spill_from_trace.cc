#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

#include "capture/convert/spill_builder.h"
#include "io/input.h"
#include "spill_sources.h"
#include "xplane.pb.h"

namespace pgle {
namespace {

// Kernels reach the device this long after their launch.
constexpr uint64_t kLatencyNs = 10'000;

struct TraceEvent {
  uint64_t start = 0, end = 0;
  uint32_t device = 0, stream = 0;
  std::string name, module, op, op_name, details;
  int64_t program_id = 0, unique_id = 0, scope = 0;
  bool is_copy = false, is_set = false;
};

class TraceReader {
 public:
  bool Read(const std::string& path) {
    const Result<Input> input = Input::Open(path);
    if (!input.ok()) return false;
    proto::XSpace space;
    if (!space.ParseFromArray(input->bytes().data(), static_cast<int>(input->bytes().size()))) {
      return false;
    }
    for (const proto::XPlane& plane : space.planes()) {
      unsigned device = 0;
      if (sscanf(plane.name().c_str(), "/device:GPU:%u", &device) == 1) AddPlane(plane, device);
    }
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
      return std::tie(a.start, a.device, a.stream) < std::tie(b.start, b.device, b.stream);
    });
    return true;
  }

  std::vector<TraceEvent> events;

 private:
  void AddPlane(const proto::XPlane& plane, uint32_t device) {
    const auto text = [&](const proto::XStat& stat) {
      return stat.has_ref_value()
                 ? plane.stat_metadata().at(static_cast<int64_t>(stat.ref_value())).name()
                 : stat.str_value();
    };
    for (const proto::XLine& line : plane.lines()) {
      if (line.name().rfind("Stream #", 0) != 0) continue;
      for (const proto::XEvent& event : line.events()) {
        TraceEvent read;
        read.device = device;
        read.stream = static_cast<uint32_t>(line.id());
        read.name = plane.event_metadata().at(event.metadata_id()).name();
        // One second in, so that no time is 0.
        read.start = 1'000'000'000 + static_cast<uint64_t>(line.timestamp_ns()) +
                     static_cast<uint64_t>(event.offset_ps()) / 1000;
        read.end = read.start + static_cast<uint64_t>(event.duration_ps()) / 1000;
        for (const proto::XStat& stat : event.stats()) {
          const std::string& name = plane.stat_metadata().at(stat.metadata_id()).name();
          if (name == "hlo_op") read.op = text(stat);
          if (name == "name") read.op_name = text(stat);
          if (name == "hlo_module") read.module = text(stat);
          if (name == "program_id") read.program_id = stat.int64_value();
          if (name == "unique_hlo_op_id") read.unique_id = stat.int64_value();
          if (name == "scope_range_id") read.scope = stat.int64_value();
          if (name == "kernel_details") read.details = text(stat);
          if (name == "memcpy_details") read.is_copy = true;
          if (name == "Memset_details") read.is_set = true;
        }
        events.push_back(std::move(read));
      }
    }
  }
};

class Recording {
 public:
  explicit Recording(bool graphs) : graphs_(graphs) {
    recorder::DeviceInfo device;
    snprintf(device.name, sizeof(device.name), "NVIDIA H200");
    device.compute_major = 9;
    device.multiprocessors = 132;
    device.clock_khz = 1'980'000;
    device.memory_clock_khz = 3'134'000;
    device.memory_bus_bits = 6144;
    device.warp_size = 32;
    device.threads_per_multiprocessor = 2048;
    device.blocks_per_multiprocessor = 32;
    device.registers_per_multiprocessor = 65536;
    device.shared_bytes_per_multiprocessor = 233472;
    device.reserved_shared_bytes_per_block = 1024;
    device.memory_bytes = 150'109'880'320;
    for (device.ordinal = 0; device.ordinal < 2; ++device.ordinal) spill_.Device(device);
  }

  void Add(const std::vector<TraceEvent>& events, uint64_t shift) {
    std::map<uint32_t, std::string> first_op;  // of each device: a new execution begins with it
    for (const TraceEvent& event : events) {
      if (event.module.empty()) continue;
      const auto [it, added] = first_op.try_emplace(event.device, event.op);
      Device& device = devices_[event.device];
      if (added || (event.op == it->second && event.scope != device.first_scope)) {
        Begin(event, shift);
        device.first_scope = event.scope;
      }
      Record(event, shift);
    }
  }

  std::string Finish() {
    uint64_t last = 0;
    for (auto& [ordinal, device] : devices_) {
      spill_.ModuleEnd(ordinal, static_cast<uint8_t>(ordinal), device.range, device.time + 1,
                       device.index - 1, device.execution);
      last = std::max(last, device.index);
    }
    spill_.Window(recorder::WindowState::kOpen, 1, module_, 0, last, "test");
    spill_.Window(recorder::WindowState::kClosing, UINT64_MAX / 2, module_, 0, last);
    spill_.Flush();
    spill_.Window(recorder::WindowState::kClosed, UINT64_MAX / 2, module_, 0, last);
    spill_.End(UINT64_MAX / 2);
    return spill_.bytes();
  }

 private:
  struct Device {
    uint32_t range = 0, execution = 0, scope = 0, correlation = 0;
    uint64_t index = 0, time = 0;
    int64_t first_scope = 0, last_scope = 0;
    std::map<int64_t, uint64_t> nodes;  // by scope
  };

  void Begin(const TraceEvent& event, uint64_t shift) {
    Device& device = devices_[event.device];
    if (device.execution > 0) {
      spill_.ModuleEnd(event.device, static_cast<uint8_t>(event.device), device.range,
                       device.time + 1, device.index - 1, device.execution);
    }
    module_ =
        fmt::format("XlaModule:#hlo_module={},program_id={}#", event.module, event.program_id);
    device.range = spill_.Stack({module_});
    device.time = event.start + shift - 2 * kLatencyNs;
    spill_.ModuleBegin(event.device, static_cast<uint8_t>(event.device), device.range, device.time,
                       device.index++, ++device.execution);
    if (!graphs_) return;
    device.correlation = ++correlation_;
    spill_.Launch(event.device, spill_.Range(device.range, "Thunk:#hlo_op=command_buffer#"),
                  device.time + 1, device.correlation, ++device.scope, device.execution);
  }

  void Record(const TraceEvent& event, uint64_t shift) {
    Device& device = devices_[event.device];
    const uint32_t range =
        spill_.Range(device.range, fmt::format("Thunk:#name={},hlo_op={},unique_hlo_op_id={}#",
                                               event.op_name, event.op, event.unique_id));
    uint64_t node = 0;
    if (graphs_) {
      node = ++node_;
      spill_.NodeCreated(event.device, node, range, static_cast<uint32_t>(event.scope));
    } else {
      if (event.scope != device.last_scope) ++device.scope;
      device.correlation = ++correlation_;
      device.time = event.start + shift - kLatencyNs;
      spill_.Launch(event.device, range, device.time, device.correlation, device.scope,
                    device.execution);
    }
    device.last_scope = event.scope;
    if (event.is_copy) {
      recorder::CopyRecord copy;
      Fill(&copy, event, shift, node);
      copy.copy_kind = 8;
      copy.source_kind = copy.destination_kind = 3;
      copy.is_async = 1;
      copy.bytes = 1024;
      spill_.Copy(copy);
    } else if (event.is_set) {
      recorder::SetRecord set;
      Fill(&set, event, shift, node);
      set.memory_kind = 3;
      set.bytes = 4;
      spill_.Set(set);
    } else {
      recorder::KernelRecord kernel;
      Fill(&kernel, event, shift, node);
      kernel.name = spill_.KernelName(event.name);
      sscanf(event.details.c_str(),
             "regs:%u static_shared:%u dynamic_shared:%u grid:%u,%u,%u block:%u,%u,%u",
             &kernel.registers, &kernel.static_shared_bytes, &kernel.dynamic_shared_bytes,
             &kernel.grid[0], &kernel.grid[1], &kernel.grid[2], &kernel.block[0], &kernel.block[1],
             &kernel.block[2]);
      spill_.Kernel(kernel);
    }
  }

  template <typename T>
  void Fill(T* record, const TraceEvent& event, uint64_t shift, uint64_t node) {
    record->start = event.start + shift;
    record->end = event.end + shift;
    record->correlation = devices_[event.device].correlation;
    record->device = event.device;
    record->context = event.device + 1;
    record->stream = event.stream;
    record->graph_node = node;
    record->graph = node == 0 ? 0 : 1;
  }

  const bool graphs_;
  SpillBuilder spill_;
  std::map<uint32_t, Device> devices_;
  std::string module_;
  uint32_t correlation_ = 0;
  uint64_t node_ = 0;
};

}  // namespace

std::string SpillFromTrace(const std::string& trace, bool graphs, uint64_t copies) {
  TraceReader reader;
  if (!reader.Read(trace) || reader.events.empty()) return {};
  uint64_t last = 0;
  for (const TraceEvent& event : reader.events) last = std::max(last, event.end);
  const uint64_t span = last - reader.events.front().start + 100'000;
  Recording recording(graphs);
  for (uint64_t i = 0; i < copies; ++i) recording.Add(reader.events, i * span);
  return recording.Finish();
}

}  // namespace pgle
