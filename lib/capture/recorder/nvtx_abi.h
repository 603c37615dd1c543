// NVTX's binary interface, version 3, as far as the recorder uses it. Every library that uses NVTX
// hands its own tables of function pointers to the injection library, which fills in what it wants
// to receive.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pgle::recorder::nvtx {

using Function = void (*)();
using FunctionTable = Function**;  // entries point to the client's pointers; an entry may be null

using GetExportTable = const void* (*)(uint32_t id);
inline constexpr uint32_t kExportCallbacks = 1;
inline constexpr uint32_t kExportVersionInfo = 3;

enum Module : int { kCore2 = 5 };

struct ExportCallbacks {
  size_t size;
  int (*get_module_function_table)(Module module, FunctionTable* table, unsigned int* size);
};

struct ExportVersionInfo {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  void (*set_injection_nvtx_version)(uint32_t version);
};

enum Core2 : unsigned {
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainCreateA = 12,
};

enum MessageType : int32_t { kAscii = 1, kRegistered = 3 };

struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;  // char* or our own handle of a registered string
};
static_assert(offsetof(EventAttributes, message_type) == 32);
static_assert(offsetof(EventAttributes, message) == 40);

// What a push returns where no depth is tracked (NVTX_NO_PUSH_POP_TRACKING).
inline constexpr int kNoTracking = -2;

}  // namespace pgle::recorder::nvtx
