#include "capture/recorder/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

namespace pgle::recorder {
namespace {

using Device = int;

// CUdevice_attribute values.
enum Attribute : int {
  kWarpSize = 10,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kThreadsPerMultiprocessor = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kBlocksPerMultiprocessor = 106,
  kReservedSharedPerBlock = 111,
};

// The copy that the process uses: none is loaded on its own account.
void* Symbol(const char* name) {
  static std::atomic<void*> library;
  void* handle = library.load(std::memory_order_acquire);
  if (handle == nullptr) {
    handle = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) return nullptr;
    library.store(handle, std::memory_order_release);
  }
  return dlsym(handle, name);
}

template <typename Function>
Function Call(const char* name) {
  return reinterpret_cast<Function>(Symbol(name));
}

}  // namespace

uint8_t CurrentDevice() {
  using GetDevice = int (*)(Device*);
  static std::atomic<GetDevice> function;
  GetDevice get = function.load(std::memory_order_relaxed);
  if (get == nullptr) {
    get = Call<GetDevice>("cuCtxGetDevice");
    if (get == nullptr) return kNoDevice;
    function.store(get, std::memory_order_relaxed);
  }
  Device device = -1;
  if (get(&device) != 0 || device < 0 || device >= kNoDevice) return kNoDevice;
  return static_cast<uint8_t>(device);
}

bool DriverIsReady() {
  const auto count_devices = Call<int (*)(int*)>("cuDeviceGetCount");
  int count = 0;
  return count_devices != nullptr && count_devices(&count) == 0;
}

uint32_t DriverVersion() {
  const auto get = Call<int (*)(int*)>("cuDriverGetVersion");
  int version = 0;
  return get != nullptr && get(&version) == 0 ? static_cast<uint32_t>(version) : 0;
}

uint32_t DescribeDevices(DeviceInfo* devices, uint32_t limit) {
  const auto count_devices = Call<int (*)(int*)>("cuDeviceGetCount");
  const auto get = Call<int (*)(Device*, int)>("cuDeviceGet");
  const auto attribute = Call<int (*)(int*, Attribute, Device)>("cuDeviceGetAttribute");
  const auto name = Call<int (*)(char*, int, Device)>("cuDeviceGetName");
  const auto memory = Call<int (*)(size_t*, Device)>("cuDeviceTotalMem_v2");
  const auto bus_id = Call<int (*)(char*, int, Device)>("cuDeviceGetPCIBusId");
  const auto uuid = Call<int (*)(uint8_t*, Device)>("cuDeviceGetUuid_v2");
  int count = 0;
  if (count_devices == nullptr || get == nullptr || attribute == nullptr || name == nullptr ||
      count_devices(&count) != 0) {
    return 0;
  }
  uint32_t described = 0;
  for (int i = 0; i < count && described < limit; ++i) {
    Device device;
    if (get(&device, i) != 0) continue;
    const auto read = [&](Attribute which) {
      int value = 0;
      return attribute(&value, which, device) == 0 ? static_cast<uint32_t>(value) : 0U;
    };
    DeviceInfo& info = devices[described++];
    info = {};
    info.ordinal = static_cast<uint32_t>(i);
    info.compute_major = read(kComputeMajor);
    info.compute_minor = read(kComputeMinor);
    info.multiprocessors = read(kMultiprocessorCount);
    info.clock_khz = read(kClockRate);
    info.memory_clock_khz = read(kMemoryClockRate);
    info.memory_bus_bits = read(kMemoryBusWidth);
    info.warp_size = read(kWarpSize);
    info.threads_per_multiprocessor = read(kThreadsPerMultiprocessor);
    info.blocks_per_multiprocessor = read(kBlocksPerMultiprocessor);
    info.registers_per_multiprocessor = read(kRegistersPerMultiprocessor);
    info.shared_bytes_per_multiprocessor = read(kSharedPerMultiprocessor);
    info.reserved_shared_bytes_per_block = read(kReservedSharedPerBlock);
    size_t bytes = 0;
    if (memory != nullptr && memory(&bytes, device) == 0) info.memory_bytes = bytes;
    if (bus_id != nullptr) bus_id(info.pci_bus_id, sizeof(info.pci_bus_id), device);
    if (uuid != nullptr) uuid(info.uuid, device);
    name(info.name, sizeof(info.name), device);
  }
  return described;
}

}  // namespace pgle::recorder
