// What the fake CUPTI does wrong when asked, by environment variables.
#pragma once

#include <cstdint>

namespace pgle::fake {

struct Knobs {
  uint32_t version;        // FAKE_CUPTI_VERSION: what cuptiGetVersion says, and the layouts used
  int subscribe_error;     // FAKE_CUPTI_SUBSCRIBE: result of cuptiSubscribe
  int enable_error;        // FAKE_CUPTI_ENABLE: result of cuptiActivityEnable
  const char* holder;      // FAKE_CUPTI_HOLDER: who holds the subscriber, for cuptiSubscribe_v2
  uint64_t drop;           // FAKE_CUPTI_DROP: that many records are lost, and counted
  uint64_t zero_times;     // FAKE_CUPTI_ZERO_TIMES: every n-th record has no times
  uint64_t slow_flush_ms;  // FAKE_CUPTI_SLOW_FLUSH_MS: cuptiActivityFlushAll takes so long
  uint64_t late_ms;        // FAKE_CUPTI_LATE_MS: records are complete so long after their end
  bool shuffle;            // FAKE_CUPTI_SHUFFLE: records of a buffer in no order
  bool shifted;            // FAKE_CUPTI_LAYOUT=shifted: a field more at the front of records
  bool disable_hangs;      // FAKE_CUPTI_DISABLE_HANGS: cuptiActivityDisable never returns
};

const Knobs& GetKnobs();

}  // namespace pgle::fake
