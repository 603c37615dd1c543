// Activity records of the fake CUPTI: which kinds, into which buffers, and when the client gets
// them back. A buffer is asked for on the thread that launches, and completed on the worker thread
// (once full and all its work is done) or in a flush.
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "cupti_api.h"
#include "cupti_knobs.h"
#include "cupti_records.h"
#include "tool_hooks.h"

namespace pgle::fake {
namespace {

constexpr uint32_t kAttributeZeroed = 5, kAttributePerThread = 9;
constexpr uint32_t kFlushForced = 1;
constexpr uint32_t kFirstVersionThatBearsNull = 27;

std::array<std::atomic<bool>, 64> kinds;
std::atomic<RequestBuffer> request{nullptr};
std::atomic<CompleteBuffer> complete{nullptr};
std::atomic<bool> zeroed_by_client{false}, per_thread{GetKnobs().version >= 130000};
std::atomic<uint64_t> records_made{0}, dropped{0};
std::atomic<uint32_t> period_ms{0};

uint64_t Now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

void Sleep(uint64_t ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

// A buffer of the client's, and what is to stand in it.
struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0, max_records = 0;
  std::vector<Work> works;

  bool Fits(size_t bytes) const {
    return used + bytes <= size && (max_records == 0 || works.size() < max_records);
  }
  bool IsDone(uint64_t now) const {
    return std::all_of(works.begin(), works.end(), [now](const Work& work) {
      return work.end + GetKnobs().late_ms * 1000000 <= now;
    });
  }
};

// Where the records of one thread go, or of all threads.
struct Collector {
  std::mutex mutex;
  Buffer current;
  std::vector<Buffer> full;
};

std::mutex collectors_mutex;
std::vector<Collector*>& Collectors() {
  static auto* collectors = new std::vector<Collector*>;
  return *collectors;
}

Collector* NewCollector() {
  auto* made = new Collector;
  std::lock_guard lock(collectors_mutex);
  Collectors().push_back(made);
  return made;
}

Collector* MyCollector() {
  static Collector* const shared = NewCollector();
  if (!per_thread.load()) return shared;
  thread_local Collector* const mine = NewCollector();
  return mine;
}

bool Ask(Buffer* buffer, size_t bytes) {
  const RequestBuffer ask = request.load();
  if (!ask) return false;
  ThisThread().buffer = true;
  ask(&buffer->data, &buffer->size, &buffer->max_records);
  ThisThread().buffer = false;
  if (!buffer->data) {
    if (GetKnobs().version < kFirstVersionThatBearsNull) {
      Misuse("no buffer was given: CUPTI before 12.9 crashes here");
    }
    return false;
  }
  if (reinterpret_cast<uintptr_t>(buffer->data) % 8 != 0) Misuse("a buffer is not aligned to 8");
  if (buffer->size < bytes) Misuse("a buffer has no place for one record");
  if (!zeroed_by_client.load()) {
    memset(buffer->data, 0, buffer->size);
  } else if (std::any_of(buffer->data, buffer->data + buffer->size, [](uint8_t b) { return b; })) {
    Misuse("a buffer is not zero, though the client has promised that");
  }
  return true;
}

void Deliver(Buffer buffer, bool is_forced) {
  if (!buffer.data) return;
  if (GetKnobs().shuffle) {
    for (size_t i = 0; i + 1 < buffer.works.size(); i += 2) {
      std::swap(buffer.works[i], buffer.works[buffer.works.size() - 1 - i]);
    }
  }
  const uint64_t now = Now();
  size_t offset = 0;
  for (Work& work : buffer.works) {
    if (is_forced && work.end > now) {  // not over yet: no end, and no start where it only waits
      work.end = 0;
      if (work.start > now) work.start = 0;
    }
    WriteRecord(work, buffer.data + offset);
    offset += SizeOfKind(KindOf(work));
  }
  const CompleteBuffer give = complete.load();
  ThisThread().buffer = true;
  give(nullptr, 0, buffer.data, buffer.size, offset);
  ThisThread().buffer = false;
}

// Gives back all full buffers whose work is done; with `partial` those that are not full, too.
void Flush(bool partial, bool is_forced) {
  std::vector<Collector*> collectors;
  {
    std::lock_guard lock(collectors_mutex);
    collectors = Collectors();
  }
  for (Collector* collector : collectors) {
    std::vector<Buffer> ready;
    {
      std::lock_guard lock(collector->mutex);
      const uint64_t now = Now();
      auto& full = collector->full;
      const auto rest = std::stable_partition(full.begin(), full.end(), [&](const Buffer& buffer) {
        return !is_forced && !buffer.IsDone(now);
      });
      std::move(rest, full.end(), std::back_inserter(ready));
      full.erase(rest, full.end());
      if (partial && collector->current.data && (is_forced || collector->current.IsDone(now))) {
        ready.push_back(std::move(collector->current));
        collector->current = {};
      }
    }
    for (Buffer& buffer : ready) Deliver(std::move(buffer), is_forced);
  }
}

void StartWorker() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::thread([] {
      for (;;) {
        Sleep(std::max(period_ms.load(), 5u));
        Flush(/*partial=*/false, /*is_forced=*/false);
      }
    }).detach();
  });
}

bool IsWanted(const Work& work) {
  if (work.kind == WorkKind::kKernel) {
    return kinds[kKindKernel].load() || kinds[kKindConcurrentKernel].load();
  }
  return kinds[KindOf(work)].load();
}

}  // namespace

void Record(const Work& work) {
  if (!IsWanted(work)) return;
  const uint64_t number = records_made.fetch_add(1);
  if (number < GetKnobs().drop) {
    dropped.fetch_add(1);
    return;
  }
  const size_t bytes = SizeOfKind(KindOf(work));
  Collector* const collector = MyCollector();
  std::lock_guard lock(collector->mutex);
  Buffer& buffer = collector->current;
  if (buffer.data && !buffer.Fits(bytes)) {
    collector->full.push_back(std::move(buffer));
    buffer = {};
  }
  if (!buffer.data && !Ask(&buffer, bytes)) {
    buffer = {};
    dropped.fetch_add(1);
    return;
  }
  buffer.used += bytes;
  buffer.works.push_back(work);
  if (GetKnobs().zero_times && (number + 1) % GetKnobs().zero_times == 0) {
    buffer.works.back().start = buffer.works.back().end = 0;
  }
}

}  // namespace pgle::fake

using namespace pgle::fake;

PGLE_CUPTI cuptiActivityRegisterCallbacks(RequestBuffer requested, CompleteBuffer completed) {
  if (!requested || !completed) return kCuptiInvalidParameter;
  complete.store(completed);
  request.store(requested);
  StartWorker();
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivityEnable(uint32_t kind) {
  if (kind >= kinds.size()) return kCuptiInvalidKind;
  if (GetKnobs().enable_error) return GetKnobs().enable_error;
  kinds[kind].store(true);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivityDisable(uint32_t kind) {
  if (kind >= kinds.size()) return kCuptiInvalidKind;
  while (GetKnobs().disable_hangs) Sleep(1000);
  kinds[kind].store(false);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivityFlushAll(uint32_t flags) {
  if (ThisThread().buffer) Misuse("cuptiActivityFlushAll in a buffer callback deadlocks");
  if (ThisThread().resource) Misuse("cuptiActivityFlushAll in a resource callback deadlocks");
  Sleep(GetKnobs().slow_flush_ms);
  Flush(/*partial=*/true, (flags & kFlushForced) != 0);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivityFlushPeriod(uint32_t milliseconds) {
  period_ms.store(milliseconds);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_size, uint8_t** record) {
  if (!buffer || !record) return kCuptiInvalidParameter;
  size_t offset = 0;
  if (*record) {
    uint32_t kind;
    memcpy(&kind, *record, sizeof kind);
    const size_t size = SizeOfKind(kind);
    if (size == 0) return kCuptiInvalidKind;
    offset = size_t(*record - buffer) + size;
  }
  if (offset >= valid_size) return kCuptiMaxLimitReached;
  *record = buffer + offset;
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* count) {
  if (ThisThread().buffer) Misuse("a call of CUPTI in a buffer callback may deadlock");
  *count = dropped.exchange(0);  // counted from the last call on
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiActivitySetAttribute(uint32_t attribute, size_t* size, void* value) {
  if (!size || !value) return kCuptiInvalidParameter;
  if (attribute == kAttributeZeroed) zeroed_by_client.store(*static_cast<uint8_t*>(value) != 0);
  if (attribute == kAttributePerThread) per_thread.store(*static_cast<uint8_t*>(value) != 0);
  return kCuptiSuccess;
}
