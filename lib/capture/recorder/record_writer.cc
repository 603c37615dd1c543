#include "capture/recorder/record_writer.h"

#include <cstdio>
#include <cstring>

#include "capture/recorder/memory.h"

namespace pgle::recorder {
namespace {

constexpr size_t kNameArenaBytes = size_t{64} << 20;
constexpr uint32_t kMaxDevices = 256;  // no machine has more; a greater number is no device

// The launch that a record comes from; false for the kinds that CUPTI adds of its own accord.
bool ReadCorrelation(const cupti::Activity* record, uint32_t* correlation) {
  switch (record->kind) {
    case cupti::kConcurrentKernel:
      *correlation = reinterpret_cast<const cupti::KernelActivity*>(record)->correlation;
      return true;
    case cupti::kMemcpy:
      *correlation = reinterpret_cast<const cupti::MemcpyActivity*>(record)->correlation;
      return true;
    case cupti::kMemcpyPeer:
      *correlation = reinterpret_cast<const cupti::MemcpyPeerActivity*>(record)->correlation;
      return true;
    case cupti::kMemset:
      *correlation = reinterpret_cast<const cupti::MemsetActivity*>(record)->correlation;
      return true;
    default:
      return false;
  }
}

size_t LeastSizeOf(int kind) {
  switch (kind) {
    case cupti::kConcurrentKernel:
      return cupti::kKernelActivitySize;
    case cupti::kMemcpy:
      return cupti::kMemcpyActivitySize;
    case cupti::kMemcpyPeer:
      return cupti::kMemcpyPeerActivitySize;
    case cupti::kMemset:
      return cupti::kMemsetActivitySize;
    default:
      return 0;
  }
}

}  // namespace

bool KernelNames::Init() {
  slots_ = Reserve<Slot>(kSlots);
  arena_ = Reserve<char>(kNameArenaBytes);
  return slots_ != nullptr && arena_ != nullptr;
}

uint32_t KernelNames::NumberOf(const char* name, bool* is_fresh) {
  *is_fresh = false;
  if (name == nullptr) return 0;
  uint64_t hash = reinterpret_cast<uintptr_t>(name) * 0x9e3779b97f4a7c15ULL;
  hash ^= hash >> 32;
  uint32_t at = static_cast<uint32_t>(hash) % kSlots;
  while (slots_[at].pointer != nullptr && slots_[at].pointer != name) at = (at + 1) % kSlots;
  Slot& slot = slots_[at];
  if (slot.pointer == name && strcmp(slot.copy, name) == 0) return slot.number;
  const size_t size = strlen(name) + 1;
  if (count_ >= kMaxNames || used_ + size > kNameArenaBytes) return 0;
  slot.pointer = name;
  slot.copy = arena_ + used_;
  memcpy(slot.copy, name, size);
  used_ += size;
  slot.number = ++count_;
  *is_fresh = true;
  return slot.number;
}

bool RecordWriter::Init(const cupti::Api* api, SpillFile* file, CorrelationSet* outstanding) {
  api_ = api;
  file_ = file;
  outstanding_ = outstanding;
  kernels_.records = Reserve<KernelRecord>(kernels_.kCapacity);
  copies_.records = Reserve<CopyRecord>(copies_.kCapacity);
  sets_.records = Reserve<SetRecord>(sets_.kCapacity);
  return kernels_.records != nullptr && copies_.records != nullptr && sets_.records != nullptr &&
         names_.Init();
}

void RecordWriter::NoteArrival(uint32_t correlation) {
  if (records_ == 0 || IsLater(correlation, greatest_correlation_)) {
    greatest_correlation_ = correlation;
  }
  outstanding_->Remove(correlation);
}

// Records of versions that came after this was written have their known part at the same place, or
// this notices: they lie as far apart as their parts need, and hold plausible values.
bool RecordWriter::Check(const cupti::Activity* record, const cupti::Activity* previous) {
  if (previous != nullptr) {
    const auto distance =
        reinterpret_cast<const char*>(record) - reinterpret_cast<const char*>(previous);
    if (distance < static_cast<ptrdiff_t>(LeastSizeOf(previous->kind))) {
      snprintf(layout_fault_, sizeof(layout_fault_), "a record of kind %d takes %td bytes only",
               previous->kind, distance);
      return false;
    }
  }
  if (record->kind != cupti::kConcurrentKernel) return true;
  const auto* const kernel = reinterpret_cast<const cupti::KernelActivity*>(record);
  if (kernel->device >= kMaxDevices || kernel->name == nullptr || kernel->grid[0] <= 0 ||
      kernel->block[0] <= 0 || kernel->block[0] > 1024) {
    snprintf(layout_fault_, sizeof(layout_fault_),
             "a kernel's record has device %u, grid %d, block %d", kernel->device, kernel->grid[0],
             kernel->block[0]);
    return false;
  }
  return true;
}

template <typename Record>
int RecordWriter::Flush(Stage<Record>* stage, ChunkType type) {
  if (stage->count == 0) return 0;
  const size_t size = stage->count * sizeof(Record);
  stage->count = 0;
  return file_->WriteChunk(type, stage->records, size);
}

int RecordWriter::Flush() {
  if (const int error = Flush(&kernels_, ChunkType::kKernels); error != 0) return error;
  if (const int error = Flush(&copies_, ChunkType::kCopies); error != 0) return error;
  return Flush(&sets_, ChunkType::kSets);
}

template <typename Record>
int RecordWriter::Append(Stage<Record>* stage, ChunkType type, const Record& record) {
  stage->records[stage->count++] = record;
  ++records_;
  if (record.start == 0 || record.end == 0) ++untimed_;
  return stage->count == Stage<Record>::kCapacity ? Flush(stage, type) : 0;
}

int RecordWriter::TakeKernel(const cupti::KernelActivity& in) {
  KernelRecord out;
  bool is_fresh = false;
  out.name = names_.NumberOf(in.name, &is_fresh);
  if (is_fresh) {
    const size_t size = strlen(in.name);
    const StringEntry entry{out.name, static_cast<uint32_t>(size < 65535 ? size : 65535)};
    file_->Begin(ChunkType::kKernelNames);
    file_->Append(&entry, sizeof(entry));
    file_->Append(in.name, entry.size);
    if (const int error = file_->Write(); error != 0) return error;
  }
  out.start = in.start;
  out.end = in.end;
  out.graph_node = in.graph_node;
  out.graph = in.graph;
  out.correlation = in.correlation;
  out.device = in.device;
  out.context = in.context;
  out.stream = in.stream;
  for (int i = 0; i < 3; ++i) {
    out.grid[i] = static_cast<uint32_t>(in.grid[i]);
    out.block[i] = static_cast<uint32_t>(in.block[i]);
  }
  out.static_shared_bytes = static_cast<uint32_t>(in.static_shared_memory);
  out.dynamic_shared_bytes = static_cast<uint32_t>(in.dynamic_shared_memory);
  out.registers = in.registers_per_thread;
  return Append(&kernels_, ChunkType::kKernels, out);
}

int RecordWriter::Take(const cupti::Activity* record) {
  switch (record->kind) {
    case cupti::kConcurrentKernel:
      return TakeKernel(*reinterpret_cast<const cupti::KernelActivity*>(record));
    case cupti::kMemcpy: {
      const auto& in = *reinterpret_cast<const cupti::MemcpyActivity*>(record);
      return Append(
          &copies_, ChunkType::kCopies,
          CopyRecord{in.start, in.end, in.bytes, in.graph_node, in.graph, in.correlation, in.device,
                     in.context, in.stream, in.device, in.copy_kind, in.source_kind,
                     in.destination_kind, static_cast<uint8_t>(in.flags & 1)});
    }
    case cupti::kMemcpyPeer: {
      const auto& in = *reinterpret_cast<const cupti::MemcpyPeerActivity*>(record);
      return Append(
          &copies_, ChunkType::kCopies,
          CopyRecord{in.start, in.end, in.bytes, in.graph_node, in.graph, in.correlation, in.device,
                     in.context, in.stream, in.destination_device, in.copy_kind, in.source_kind,
                     in.destination_kind, static_cast<uint8_t>(in.flags & 1)});
    }
    case cupti::kMemset: {
      const auto& in = *reinterpret_cast<const cupti::MemsetActivity*>(record);
      return Append(
          &sets_, ChunkType::kSets,
          SetRecord{in.start, in.end, in.bytes, in.graph_node, in.graph, in.correlation, in.device,
                    in.context, in.stream, in.value, static_cast<uint8_t>(in.memory_kind),
                    static_cast<uint8_t>(in.flags & 1)});
    }
    default:
      return 0;
  }
}

int RecordWriter::Write(const ActivityBuffers::Filled& filled) {
  cupti::Activity* record = nullptr;
  cupti::Activity* previous = nullptr;
  while (api_->next_record(filled.data, filled.valid_bytes, &record) == cupti::kSuccess) {
    if (!Check(record, previous)) return 0;
    previous = record;
    uint32_t correlation;
    if (!ReadCorrelation(record, &correlation)) continue;
    NoteArrival(correlation);
    if (has_last_correlation_ && IsLater(correlation, last_correlation_)) continue;
    if (const int error = Take(record); error != 0) return error;
  }
  return 0;
}

void RecordWriter::PassOver(const ActivityBuffers::Filled& filled) {
  cupti::Activity* record = nullptr;
  while (api_->next_record(filled.data, filled.valid_bytes, &record) == cupti::kSuccess) {
    uint32_t correlation;
    if (ReadCorrelation(record, &correlation)) NoteArrival(correlation);
  }
}

}  // namespace pgle::recorder
