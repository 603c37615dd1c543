// Devices of the fake driver: FAKE_CUDA_DEVICES of them (2), all alike but for their ids.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cuda_state.h"

namespace pgle::fake {

int DeviceCount() {
  static const int count = [] {
    const char* text = getenv("FAKE_CUDA_DEVICES");
    return text ? std::clamp(atoi(text), 0, 64) : 2;
  }();
  return count;
}

namespace {

CUresult Check(CUdevice device) {
  if (!IsInitialized()) return kNotInitialized;
  return device >= 0 && device < DeviceCount() ? kSuccess : kInvalidDevice;
}

}  // namespace
}  // namespace pgle::fake

using namespace pgle::fake;

CUresult cuDeviceGetCount(int* count) {
  if (!IsInitialized()) return kNotInitialized;
  *count = DeviceCount();
  return kSuccess;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  const CUresult result = Check(ordinal);
  if (result == kSuccess) *device = ordinal;
  return result;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  const CUresult result = Check(device);
  if (result == kSuccess) snprintf(name, size, "Fake H200");
  return result;
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  if (const CUresult result = Check(device); result != kSuccess) return result;
  switch (attribute) {
    case 10:
      *value = 32;
      break;  // warp size
    case 13:
      *value = 1980000;
      break;  // clock, kHz
    case 16:
      *value = 132;
      break;  // multiprocessors
    case 36:
      *value = 3201000;
      break;  // memory clock, kHz
    case 37:
      *value = 6144;
      break;  // memory bus, bits
    case 39:
      *value = 2048;
      break;  // threads per multiprocessor
    case 75:
      *value = 9;
      break;  // compute capability
    case 76:
      *value = 0;
      break;
    case 81:
      *value = 233472;
      break;  // shared bytes per multiprocessor
    case 82:
      *value = 65536;
      break;  // registers per multiprocessor
    case 106:
      *value = 32;
      break;  // blocks per multiprocessor
    case 111:
      *value = 1024;
      break;  // reserved shared bytes per block
    default:
      return kInvalidValue;
  }
  return kSuccess;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  const CUresult result = Check(device);
  if (result == kSuccess) *bytes = size_t{141} << 30;
  return result;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  const CUresult result = Check(device);
  if (result == kSuccess) {
    for (int i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(16 * i + device);
  }
  return result;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid(uuid, device);
}

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  const CUresult result = Check(device);
  if (result == kSuccess) snprintf(id, size, "0000:%02X:00.0", 0x10 + device);
  return result;
}
