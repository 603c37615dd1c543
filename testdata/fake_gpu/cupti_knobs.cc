#include "cupti_knobs.h"

#include <cstdlib>
#include <cstring>

namespace pgle::fake {
namespace {

uint64_t Number(const char* name, uint64_t otherwise = 0) {
  const char* text = getenv(name);
  return text && *text ? strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

const Knobs& GetKnobs() {
  static const Knobs knobs = [] {
    const char* layout = getenv("FAKE_CUPTI_LAYOUT");
    const char* holder = getenv("FAKE_CUPTI_HOLDER");
    return Knobs{
        .version = static_cast<uint32_t>(Number("FAKE_CUPTI_VERSION", FAKE_CUPTI_DEFAULT_VERSION)),
        .subscribe_error = static_cast<int>(Number("FAKE_CUPTI_SUBSCRIBE")),
        .enable_error = static_cast<int>(Number("FAKE_CUPTI_ENABLE")),
        .holder = holder ? holder : "CUPTI",
        .drop = Number("FAKE_CUPTI_DROP"),
        .zero_times = Number("FAKE_CUPTI_ZERO_TIMES"),
        .slow_flush_ms = Number("FAKE_CUPTI_SLOW_FLUSH_MS"),
        .late_ms = Number("FAKE_CUPTI_LATE_MS"),
        .shuffle = Number("FAKE_CUPTI_SHUFFLE") != 0,
        .shifted = layout && strcmp(layout, "shifted") == 0,
        .disable_hangs = Number("FAKE_CUPTI_DISABLE_HANGS") != 0,
    };
  }();
  return knobs;
}

}  // namespace pgle::fake
