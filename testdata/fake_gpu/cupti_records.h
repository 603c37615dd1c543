// Activity records as bytes, in the layout of each release of CUPTI. Written from offsets, not
// from structs shared with the recorder: layout_test.cc holds both against NVIDIA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tool_hooks.h"

namespace pgle::fake {

// CUpti_ActivityKind.
inline constexpr uint32_t kKindCopy = 1, kKindSet = 2, kKindKernel = 3, kKindConcurrentKernel = 10,
                          kKindPeerCopy = 22;

// Offsets of CUpti_ActivityKernel9 and later; all releases since 11.8 agree in these.
struct KernelOffsets {
  static constexpr size_t kRegisters = 6, kStart = 16, kEnd = 24, kCompleted = 32, kDevice = 40,
                          kContext = 44, kStream = 48, kGrid = 52, kBlock = 64, kStaticShared = 76,
                          kDynamicShared = 80, kCorrelation = 92, kGridId = 96, kName = 104,
                          kGraphNode = 144, kGraph = 156;
};
// CUpti_ActivityMemcpy5 and later.
struct CopyOffsets {
  static constexpr size_t kCopyKind = 4, kSourceKind = 5, kDestinationKind = 6, kFlags = 7,
                          kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kContext = 36,
                          kStream = 40, kCorrelation = 44, kGraphNode = 64, kGraph = 72;
};
// CUpti_ActivityMemcpyPtoP4.
struct PeerCopyOffsets {
  static constexpr size_t kSize = 96, kSourceDevice = 44, kDestinationDevice = 52,
                          kCorrelation = 60, kGraphNode = 72, kGraph = 80;
};
// CUpti_ActivityMemset4 and later.
struct SetOffsets {
  static constexpr size_t kValue = 4, kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32,
                          kContext = 36, kStream = 40, kCorrelation = 44, kFlags = 48,
                          kMemoryKind = 50, kGraphNode = 64, kGraph = 72;
};

struct RecordSizes {
  size_t kernel, copy, set;
};
// By cuptiGetVersion.
constexpr RecordSizes SizesOf(uint32_t version) {
  if (version >= 130400) return {248, 112, 104};  // Kernel13, Memcpy7, Memset5
  if (version >= 130300) return {232, 96, 88};    // Kernel12: an execution model
  if (version >= 130200) return {224, 96, 88};    // Kernel11: a priority
  if (version >= 130000) return {216, 96, 88};    // Kernel10: whether launched by the device
  if (version >= 26) return {208, 96, 88};        // Kernel9, Memcpy6
  return {208, 88, 88};                           // Kernel9, Memcpy5
}

uint32_t KindOf(const Work& work);
// Of a record of the kind, as this process's CUPTI writes it; 0: a kind that it does not write.
size_t SizeOfKind(uint32_t kind);
// Writes SizeOfKind(KindOf(work)) bytes over zeros.
void WriteRecord(const Work& work, uint8_t* to);

}  // namespace pgle::fake
