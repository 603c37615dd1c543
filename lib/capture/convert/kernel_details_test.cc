#include "capture/convert/kernel_details.h"

#include <doctest/doctest.h>

using pgle::recorder::CopyRecord;
using pgle::recorder::DeviceInfo;
using pgle::recorder::KernelRecord;
using pgle::recorder::SetRecord;

namespace {

DeviceInfo H200() {
  DeviceInfo device;
  device.warp_size = 32;
  device.threads_per_multiprocessor = 2048;
  device.blocks_per_multiprocessor = 32;
  device.registers_per_multiprocessor = 65536;
  device.shared_bytes_per_multiprocessor = 233472;
  device.reserved_shared_bytes_per_block = 1024;
  return device;
}

KernelRecord Kernel(uint32_t registers, uint32_t fixed, uint32_t dynamic, uint32_t threads) {
  KernelRecord kernel;
  kernel.registers = registers;
  kernel.static_shared_bytes = fixed;
  kernel.dynamic_shared_bytes = dynamic;
  kernel.grid[0] = 24;
  kernel.grid[1] = kernel.grid[2] = 1;
  kernel.block[0] = threads;
  kernel.block[1] = kernel.block[2] = 1;
  return kernel;
}

}  // namespace

TEST_CASE("Occupancy as jax.profiler recorded it on an H200") {
  // testdata/runs/command_buffers/trace: ncclDevKernel_AllGather_RING_LL, all_reduce_14_0_fusion_1.
  CHECK(pgle::OccupancyPercent(Kernel(96, 21568, 82240, 544), H200()) == 26.5625);
  CHECK(pgle::OccupancyPercent(Kernel(20, 0, 0, 32), H200()) == 50);
  // testdata/runs/fsdp_unrolled/trace: fusion_700, loop_slice_fusion_22.
  CHECK(pgle::OccupancyPercent(Kernel(135, 0, 8192, 256), H200()) == 12.5);
  CHECK(pgle::OccupancyPercent(Kernel(16, 0, 0, 128), H200()) == 100);
}

TEST_CASE("What is unknown gives no occupancy") {
  CHECK(pgle::OccupancyPercent(Kernel(16, 0, 0, 128), DeviceInfo()) == 0);
  CHECK(pgle::OccupancyPercent(Kernel(16, 0, 0, 0), H200()) == 0);
  CHECK(pgle::OccupancyPercent(Kernel(16, 0, 300'000, 128), H200()) == 0);
}

TEST_CASE("Texts") {
  const DeviceInfo device = H200();
  CHECK(pgle::KernelDetails(Kernel(96, 21568, 82240, 544), &device) ==
        "regs:96 static_shared:21568 dynamic_shared:82240 grid:24,1,1 block:544,1,1 "
        "occ_pct:26.5625");
  CHECK(pgle::KernelDetails(Kernel(8, 0, 0, 1), nullptr) ==
        "regs:8 static_shared:0 dynamic_shared:0 grid:24,1,1 block:1,1,1");
  CopyRecord copy;
  copy.bytes = 4194304;
  copy.source_kind = copy.destination_kind = 3;
  copy.destination_device = 1;
  copy.is_async = 1;
  CHECK(pgle::CopyDetails(copy) == "kind_src:device kind_dst:device size:4194304 dest:1 async:1");
  SetRecord set;
  set.memory_kind = 3;
  set.bytes = 4;
  CHECK(pgle::SetDetails(set) == "kind:device num_bytes:4 async:0");
  CHECK(pgle::CopyName(8) == "MemcpyD2D");
  CHECK(pgle::CopyName(10) == "MemcpyP2P");
  CHECK(pgle::CopyName(77) == "MemcpyOther");
}

TEST_CASE("Numbers that no device has give no occupancy") {
  DeviceInfo device = H200();
  CHECK(pgle::OccupancyPercent(Kernel(1u << 27, 0, 0, 128), device) == 0);
  CHECK(pgle::OccupancyPercent(Kernel(32, 0, 0, 1u << 31), device) == 0);
  device.warp_size = 1u << 31;
  CHECK(pgle::OccupancyPercent(Kernel(32, 0, 0, 128), device) == 0);
}
