// Times are integers in picoseconds (XSpace's unit) until a profile is written in microseconds.
#pragma once

#include <cstdint>

namespace pgle {

using Picoseconds = int64_t;

inline constexpr Picoseconds kPicosecondsPerNanosecond = 1'000;
inline constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;

inline double ToMicroseconds(Picoseconds ps) {
  return static_cast<double>(ps) / 1e6;
}

}  // namespace pgle
