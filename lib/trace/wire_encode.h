// Protobuf's wire format, written in place: the other half of trace/wire.h. An event is encoded
// into a small buffer that is used again, so that writing costs no allocation.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "trace/wire.h"

namespace pgle::wire {

inline void AppendVarint(std::string& out, uint64_t value) {
  char bytes[10];
  size_t size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  out.append(bytes, size);
}

inline void AppendTag(std::string& out, uint32_t field, Type type) {
  AppendVarint(out, uint64_t{field} << 3 | type);
}

inline void AppendInteger(std::string& out, uint32_t field, uint64_t value) {
  AppendTag(out, field, kVarint);
  AppendVarint(out, value);
}

inline void AppendBytes(std::string& out, uint32_t field, std::string_view bytes) {
  AppendTag(out, field, kBytes);
  AppendVarint(out, bytes.size());
  out += bytes;
}

inline void AppendDouble(std::string& out, uint32_t field, double value) {
  AppendTag(out, field, kFixed64);
  char bytes[8];
  memcpy(bytes, &value, 8);
  out.append(bytes, 8);
}

}  // namespace pgle::wire
