#include "cupti_records.h"

#include <cstring>

#include "cupti_knobs.h"

namespace pgle::fake {
namespace {

constexpr size_t kShift = 8;  // of everything behind the first 8 bytes, with FAKE_CUPTI_LAYOUT

class Writer {
 public:
  explicit Writer(uint8_t* record) : record_(record), shift_(GetKnobs().shifted ? kShift : 0) {}

  template <typename T>
  void Put(size_t offset, T value) const {
    memcpy(record_ + offset + (offset >= 8 ? shift_ : 0), &value, sizeof value);
  }

 private:
  uint8_t* record_;
  size_t shift_;
};

void WriteKernel(const Work& work, const Writer& writer) {
  using At = KernelOffsets;
  writer.Put<uint16_t>(At::kRegisters, 40);
  writer.Put(At::kStart, work.start);
  writer.Put(At::kEnd, work.end);
  writer.Put(At::kCompleted, work.end);
  writer.Put(At::kDevice, work.device);
  writer.Put(At::kContext, work.context);
  writer.Put(At::kStream, work.stream);
  for (size_t i = 0; i < 3; ++i) {
    writer.Put(At::kGrid + 4 * i, work.grid[i]);
    writer.Put(At::kBlock + 4 * i, work.block[i]);
  }
  writer.Put<uint32_t>(At::kStaticShared, 512);
  writer.Put(At::kDynamicShared, work.shared_bytes);
  writer.Put(At::kCorrelation, work.correlation);
  writer.Put<uint64_t>(At::kGridId, work.correlation);
  writer.Put(At::kName, work.name);
  writer.Put(At::kGraphNode, work.node);
  writer.Put(At::kGraph, work.graph);
}

// Of copies and memsets alike.
void WriteTransfer(const Work& work, const Writer& writer) {
  using At = CopyOffsets;
  writer.Put(At::kBytes, work.bytes);
  writer.Put(At::kStart, work.start);
  writer.Put(At::kEnd, work.end);
  writer.Put(At::kDevice, work.device);
  writer.Put(At::kContext, work.context);
  writer.Put(At::kStream, work.stream);
}

void WriteCopyKinds(const Work& work, const Writer& writer) {
  using At = CopyOffsets;
  writer.Put(At::kCopyKind, work.copy_kind);
  writer.Put(At::kSourceKind, work.source_kind);
  writer.Put(At::kDestinationKind, work.destination_kind);
  writer.Put<uint8_t>(At::kFlags, 1);  // asynchronous
}

}  // namespace

uint32_t KindOf(const Work& work) {
  switch (work.kind) {
    case WorkKind::kKernel:
      return kKindConcurrentKernel;
    case WorkKind::kCopy:
      return kKindCopy;
    case WorkKind::kPeerCopy:
      return kKindPeerCopy;
    case WorkKind::kSet:
      return kKindSet;
  }
  return 0;
}

size_t SizeOfKind(uint32_t kind) {
  const size_t shift = GetKnobs().shifted ? kShift : 0;
  const RecordSizes sizes = SizesOf(GetKnobs().version);
  switch (kind) {
    case kKindKernel:
    case kKindConcurrentKernel:
      return sizes.kernel + shift;
    case kKindCopy:
      return sizes.copy + shift;
    case kKindPeerCopy:
      return PeerCopyOffsets::kSize + shift;
    case kKindSet:
      return sizes.set + shift;
    default:
      return 0;
  }
}

void WriteRecord(const Work& work, uint8_t* to) {
  const Writer writer(to);
  writer.Put(0, KindOf(work));
  switch (work.kind) {
    case WorkKind::kKernel:
      WriteKernel(work, writer);
      break;
    case WorkKind::kCopy:
      WriteTransfer(work, writer);
      WriteCopyKinds(work, writer);
      writer.Put(CopyOffsets::kCorrelation, work.correlation);
      writer.Put(CopyOffsets::kGraphNode, work.node);
      writer.Put(CopyOffsets::kGraph, work.graph);
      break;
    case WorkKind::kPeerCopy:
      WriteTransfer(work, writer);
      WriteCopyKinds(work, writer);
      writer.Put(PeerCopyOffsets::kSourceDevice, work.device);
      writer.Put(PeerCopyOffsets::kDestinationDevice, work.destination_device);
      writer.Put(PeerCopyOffsets::kCorrelation, work.correlation);
      writer.Put(PeerCopyOffsets::kGraphNode, work.node);
      writer.Put(PeerCopyOffsets::kGraph, work.graph);
      break;
    case WorkKind::kSet:
      WriteTransfer(work, writer);
      writer.Put(SetOffsets::kValue, work.value);
      writer.Put<uint16_t>(SetOffsets::kFlags, 1);
      writer.Put<uint16_t>(SetOffsets::kMemoryKind, 3);  // device memory
      writer.Put(SetOffsets::kCorrelation, work.correlation);
      writer.Put(SetOffsets::kGraphNode, work.node);
      writer.Put(SetOffsets::kGraph, work.graph);
      break;
  }
}

}  // namespace pgle::fake
