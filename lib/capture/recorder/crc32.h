// CRC-32 as zlib's crc32() computes it (IEEE 802.3, reflected). The recorder links no library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pgle::recorder {

struct Crc32Tables {
  uint32_t at[8][256];

  constexpr Crc32Tables() : at() {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320U : 0);
      at[0][i] = value;
    }
    for (uint32_t i = 0; i < 256; ++i) {
      for (int table = 1; table < 8; ++table) {
        at[table][i] = (at[table - 1][i] >> 8) ^ at[0][at[table - 1][i] & 0xff];
      }
    }
  }
};
inline constexpr Crc32Tables kCrc32Tables;

// Eight bytes a step, little-endian machines only, as the whole recorder.
inline uint32_t Crc32(const char* bytes, size_t size) {
  const auto& tables = kCrc32Tables.at;
  uint32_t crc = 0xffffffffU;
  for (; size >= 8; bytes += 8, size -= 8) {
    uint32_t low, high;
    memcpy(&low, bytes, 4);
    memcpy(&high, bytes + 4, 4);
    low ^= crc;
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
          tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
          tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
  }
  for (; size > 0; ++bytes, --size) {
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<uint8_t>(*bytes)) & 0xff];
  }
  return ~crc;
}

}  // namespace pgle::recorder
