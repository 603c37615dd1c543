#include "capture/convert/kernel_details.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace pgle {
namespace {

// Registers are handed out to a warp in units, and warps live on one of four partitions.
constexpr uint32_t kRegisterUnit = 256;
constexpr uint32_t kPartitions = 4;
constexpr uint32_t kSharedUnit = 128;

// Of a block, and of a thread: no device has more, and products stay within 32 bits.
constexpr uint32_t kMostThreads = 1024, kMostRegisters = 1 << 16;

uint32_t RoundUp(uint32_t value, uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

// CUpti_ActivityMemoryKind.
std::string_view MemoryName(uint8_t kind) {
  constexpr std::array<std::string_view, 8> kNames = {"unknown",       "pageable",      "pinned",
                                                      "device",        "array",         "managed",
                                                      "device_static", "managed_static"};
  return kind < kNames.size() ? kNames[kind] : kNames[0];
}

}  // namespace

double OccupancyPercent(const recorder::KernelRecord& kernel, const recorder::DeviceInfo& device) {
  for (const uint32_t size : kernel.block) {
    if (size > kMostThreads) return 0;
  }
  if (kernel.registers > kMostRegisters || device.warp_size > kMostThreads) return 0;
  const uint32_t threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  if (threads == 0 || device.warp_size == 0 || device.threads_per_multiprocessor == 0) return 0;
  const uint32_t warps = RoundUp(threads, device.warp_size) / device.warp_size;
  const uint32_t most_warps = device.threads_per_multiprocessor / device.warp_size;
  uint32_t blocks = most_warps / warps;
  if (device.blocks_per_multiprocessor > 0) {
    blocks = std::min(blocks, device.blocks_per_multiprocessor);
  }
  if (kernel.registers > 0 && device.registers_per_multiprocessor > 0) {
    const uint32_t of_warp = RoundUp(kernel.registers * device.warp_size, kRegisterUnit);
    const uint32_t of_partition = device.registers_per_multiprocessor / kPartitions;
    blocks = std::min(blocks, of_partition / of_warp * kPartitions / warps);
  }
  const uint32_t shared = RoundUp(kernel.static_shared_bytes + kernel.dynamic_shared_bytes +
                                      device.reserved_shared_bytes_per_block,
                                  kSharedUnit);
  if (shared > 0 && device.shared_bytes_per_multiprocessor > 0) {
    blocks = std::min(blocks, device.shared_bytes_per_multiprocessor / shared);
  }
  return 100.0 * blocks * warps / most_warps;
}

std::string KernelDetails(const recorder::KernelRecord& kernel,
                          const recorder::DeviceInfo* device) {
  std::string text = fmt::format(
      "regs:{} static_shared:{} dynamic_shared:{} grid:{},{},{} block:{},{},{}", kernel.registers,
      kernel.static_shared_bytes, kernel.dynamic_shared_bytes, kernel.grid[0], kernel.grid[1],
      kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2]);
  const double occupancy = device == nullptr ? 0 : OccupancyPercent(kernel, *device);
  if (occupancy > 0) fmt::format_to(std::back_inserter(text), " occ_pct:{:g}", occupancy);
  return text;
}

std::string CopyDetails(const recorder::CopyRecord& copy) {
  return fmt::format("kind_src:{} kind_dst:{} size:{} dest:{} async:{}",
                     MemoryName(copy.source_kind), MemoryName(copy.destination_kind), copy.bytes,
                     copy.destination_device, copy.is_async);
}

std::string SetDetails(const recorder::SetRecord& set) {
  return fmt::format("kind:{} num_bytes:{} async:{}", MemoryName(set.memory_kind), set.bytes,
                     set.is_async);
}

std::string_view CopyName(uint8_t copy_kind) {
  constexpr std::array<std::string_view, 11> kNames = {
      "MemcpyOther", "MemcpyH2D", "MemcpyD2H", "MemcpyH2A", "MemcpyA2H", "MemcpyA2A",
      "MemcpyA2D",   "MemcpyD2A", "MemcpyD2D", "MemcpyH2H", "MemcpyP2P"};
  return copy_kind < kNames.size() ? kNames[copy_kind] : kNames[0];
}

}  // namespace pgle
