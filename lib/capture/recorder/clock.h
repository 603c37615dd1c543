// Nanoseconds. Realtime is the clock of CUPTI's default timestamps.
#pragma once

#include <cstdint>
#include <ctime>

namespace pgle::recorder {

inline uint64_t ReadClock(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}
inline uint64_t RealtimeNow() {
  return ReadClock(CLOCK_REALTIME);
}
inline uint64_t MonotonicNow() {
  return ReadClock(CLOCK_MONOTONIC);
}

}  // namespace pgle::recorder
