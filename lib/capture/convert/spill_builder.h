// For tests only: spill files as a recorder writes them.
#pragma once

#include <zlib.h>

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/recorder/spill_format.h"

namespace pgle {

class SpillBuilder {
 public:
  SpillBuilder() {
    recorder::ProcessInfo process;
    process.pid = 4242;
    process.start_ns = 1'000'000'000;
    process.cupti_version = 130001;
    process.driver_version = 13000;
    Chunk(recorder::ChunkType::kProcess, Pod(process));
  }

  void Chunk(recorder::ChunkType type, std::string payload) {
    payload.resize((payload.size() + 7) / 8 * 8);
    recorder::ChunkHeader header;
    header.type = static_cast<uint16_t>(type);
    header.size = static_cast<uint32_t>(payload.size());
    header.crc32 = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef*>(payload.data()), header.size));
    offsets_.push_back(bytes_.size());
    bytes_ += Pod(header) + payload;
  }

  template <typename T>
  static std::string Pod(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }

  // Ids of a text, of a stack of ranges (outermost first), of a kernel's name.
  uint32_t String(const std::string& text) {
    return Intern(&strings_, recorder::ChunkType::kStrings, text);
  }
  uint32_t KernelName(const std::string& text) {
    return Intern(&names_, recorder::ChunkType::kKernelNames, text);
  }
  uint32_t Range(uint32_t parent, const std::string& text) {
    const uint32_t string = String(text);
    const auto [it, added] = ranges_.try_emplace({parent, string}, ranges_.size() + 1);
    if (added) {
      recorder::RangeEntry entry;
      entry.id = it->second;
      entry.parent = parent;
      entry.string = string;
      Chunk(recorder::ChunkType::kRanges, Pod(entry));
    }
    return it->second;
  }
  uint32_t Stack(const std::vector<std::string>& texts) {
    uint32_t range = 0;
    for (const std::string& text : texts) range = Range(range, text);
    return range;
  }

  void Device(const recorder::DeviceInfo& device) {
    Chunk(recorder::ChunkType::kDevices, Pod(device));
  }
  void Facts(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string payload;
    for (const auto& [key, value] : facts) payload += key + '\0' + value + '\0';
    Chunk(recorder::ChunkType::kText, payload);
  }

  // Events wait until Flush() puts those of each thread into a chunk.
  void Event(uint32_t thread, const recorder::Event& event) { events_[thread] += Pod(event); }
  void ModuleBegin(uint32_t thread, uint8_t device, uint32_t range, uint64_t time, uint64_t index,
                   uint32_t execution) {
    ModuleEvent(recorder::EventKind::kModuleBegin, thread, device, range, time, index, execution);
  }
  void ModuleEnd(uint32_t thread, uint8_t device, uint32_t range, uint64_t time, uint64_t index,
                 uint32_t execution) {
    ModuleEvent(recorder::EventKind::kModuleEnd, thread, device, range, time, index, execution);
  }
  void Launch(uint32_t thread, uint32_t range, uint64_t time, uint32_t correlation, uint32_t scope,
              uint32_t execution) {
    recorder::Event event = {};
    event.kind = recorder::EventKind::kLaunch;
    event.device = recorder::kNoDevice;
    event.range = range;
    event.launch = {time, 1000, correlation, scope, execution};
    Event(thread, event);
  }
  void NodeCreated(uint32_t thread, uint64_t node, uint32_t range, uint32_t scope = 0) {
    recorder::Event event = {};
    event.kind = recorder::EventKind::kNodeCreated;
    event.range = range;
    event.graph = {node, 0, scope, 0};
    Event(thread, event);
  }
  void NodeCloned(uint32_t thread, uint64_t node, uint64_t original) {
    recorder::Event event = {};
    event.kind = recorder::EventKind::kNodeCloned;
    event.graph = {node, original, 0, 0};
    Event(thread, event);
  }

  void Kernel(const recorder::KernelRecord& record) { kernels_ += Pod(record); }
  void Kernel(uint32_t correlation, uint64_t start, uint64_t end, const std::string& name = "k",
              uint32_t device = 0, uint64_t node = 0, uint32_t stream = 7) {
    recorder::KernelRecord record;
    record.start = start;
    record.end = end;
    record.correlation = correlation;
    record.name = KernelName(name);
    record.device = device;
    record.context = device + 1;
    record.stream = stream;
    record.graph_node = node;
    record.graph = node != 0 ? 1 : 0;
    record.registers = 32;
    record.grid[0] = record.grid[1] = record.grid[2] = 1;
    record.block[0] = 128;
    record.block[1] = record.block[2] = 1;
    Kernel(record);
  }
  void Copy(const recorder::CopyRecord& record) { copies_ += Pod(record); }
  void Set(const recorder::SetRecord& record) { sets_ += Pod(record); }

  void Window(recorder::WindowState state, uint64_t time, const std::string& module = "",
              uint64_t first = 0, uint64_t last = 0, const std::string& reason = "") {
    recorder::WindowChange change;
    change.state = state;
    change.time = time;
    change.string = module.empty() ? 0 : String(module);
    change.first = first;
    change.last = last;
    Chunk(recorder::ChunkType::kWindow, Pod(change) + reason + '\0');
  }
  void Counters(const recorder::Counters& counters) {
    Chunk(recorder::ChunkType::kCounters, Pod(counters));
  }

  // Writes what waits.
  void Flush() {
    for (auto& [thread, events] : events_) {
      recorder::EventsHeader header;
      header.thread = thread;
      header.tid = 1000 + thread;
      Chunk(recorder::ChunkType::kEvents, Pod(header) + events);
    }
    events_.clear();
    if (!kernels_.empty()) Chunk(recorder::ChunkType::kKernels, std::exchange(kernels_, ""));
    if (!copies_.empty()) Chunk(recorder::ChunkType::kCopies, std::exchange(copies_, ""));
    if (!sets_.empty()) Chunk(recorder::ChunkType::kSets, std::exchange(sets_, ""));
  }

  void End(uint64_t time) {
    Flush();
    recorder::EndMark mark;
    mark.time = time;
    Chunk(recorder::ChunkType::kEnd, Pod(mark));
  }

  const std::string& bytes() const { return bytes_; }
  // Where each chunk begins.
  const std::vector<size_t>& offsets() const { return offsets_; }

 private:
  void ModuleEvent(recorder::EventKind kind, uint32_t thread, uint8_t device, uint32_t range,
                   uint64_t time, uint64_t index, uint32_t execution) {
    recorder::Event event = {};
    event.kind = kind;
    event.device = device;
    event.range = range;
    event.module = {time, index, execution, 0};
    Event(thread, event);
  }

  uint32_t Intern(std::map<std::string, uint32_t>* table, recorder::ChunkType type,
                  const std::string& text) {
    const auto [it, added] = table->try_emplace(text, table->size() + 1);
    if (added) {
      recorder::StringEntry entry;
      entry.id = it->second;
      entry.size = static_cast<uint32_t>(text.size());
      std::string padded = text;
      padded.resize((padded.size() + 3) / 4 * 4);
      Chunk(type, Pod(entry) + padded);
    }
    return it->second;
  }

  std::string bytes_;
  std::vector<size_t> offsets_;
  std::map<std::string, uint32_t> strings_, names_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> ranges_;
  std::map<uint32_t, std::string> events_;
  std::string kernels_, copies_, sets_;
};

}  // namespace pgle
