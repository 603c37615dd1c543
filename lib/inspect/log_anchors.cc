#include "inspect/log_anchors.h"

#include <cstdint>
#include <cstring>

namespace pgle {
namespace {

// A marker and three bytes of it that are rare together in a log.
struct Marker {
  char probe[3];
  size_t probe_offset;
  std::string_view text;
};

constexpr Marker kMarkers[] = {
    // "Found profile", "from the profile.", "fdo_profile", profile_guided_latency_estimator.cc
    {{'o', 'f', 'i'}, 2, "profile"},
    {{'G', 'L', 'E'}, 1, "PGLE"},
    {{'L', 'H', 'S'}, 7, "before LHS"},
    {{'y', 'H', 'i'}, 6, "LatencyHidingScheduler current memory"},
    {{'I', '_', 'E'}, 4, "CUPTI_ERROR"},
    {{'A', ' ', 's'}, 2, "XLA service 0x"},
    {{'A', '_', 'F'}, 2, "XLA_FLAGS: "},
    {{'t', ' ', 'f'}, 8, "cache hit for"},
};
constexpr size_t kProbe = 3;
constexpr size_t kBlock = 64;

// Whether a probe may start in p[0, kBlock). Reads kBlock + kProbe - 1 bytes; written so that the
// compiler makes vector code of it.
bool BlockHasProbe(const char* p) {
  uint8_t hit = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    uint8_t any = 0;
    for (const Marker& marker : kMarkers) {
      any |= static_cast<uint8_t>((p[i] == marker.probe[0]) & (p[i + 1] == marker.probe[1]) &
                                  (p[i + 2] == marker.probe[2]));
    }
    hit |= any;
  }
  return hit != 0;
}

// The marker whose probe stands at `position`: its start, or npos.
size_t MarkerAt(std::string_view text, size_t position) {
  const char* p = text.data() + position;
  for (const Marker& marker : kMarkers) {
    if (p[0] != marker.probe[0] || p[1] != marker.probe[1] || p[2] != marker.probe[2]) continue;
    if (position < marker.probe_offset) continue;
    const size_t start = position - marker.probe_offset;
    if (text.substr(start, marker.text.size()) == marker.text) return start;
  }
  return text.npos;
}

bool StartsProbe(char c) {
  switch (c) {
    case 'o':
    case 'G':
    case 'L':
    case 'y':
    case 'I':
    case 'A':
    case 't':
      return true;
    default:
      return false;
  }
}

}  // namespace

size_t FindAnchor(std::string_view text, size_t from) {
  if (text.size() < kProbe) return text.npos;
  const size_t last = text.size() - kProbe;  // the last place where a probe fits
  size_t block = from;
  while (block <= last) {
    const size_t end = block + kBlock < last + 1 ? block + kBlock : last + 1;
    if (end - block < kBlock || BlockHasProbe(text.data() + block)) {
      for (size_t i = block; i < end; ++i) {
        if (!StartsProbe(text[i])) continue;
        // A marker that began before `from` was seen by the caller.
        if (const size_t start = MarkerAt(text, i); start != text.npos && start >= from) {
          return start;
        }
      }
    }
    block = end;
  }
  return text.npos;
}

}  // namespace pgle
