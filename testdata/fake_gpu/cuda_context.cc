// Contexts and streams of the fake driver.
#include <time.h>

#include <array>
#include <atomic>

#include "cuda_state.h"

namespace pgle::fake {
namespace {

thread_local Context* current = nullptr;

std::atomic<uint32_t> next_stream{7};  // small ids are taken by the driver itself, as on GPUs

void SleepUntil(uint64_t time) {
  const timespec until = {time_t(time / 1000000000), long(time % 1000000000)};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

}  // namespace

Context* CurrentContext() {
  return current;
}

Stream* StreamOrDefault(CUstream stream) {
  if (stream) return stream;
  return current ? &current->default_stream : nullptr;
}

}  // namespace pgle::fake

using namespace pgle::fake;

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!IsInitialized()) return kNotInitialized;
  if (device < 0 || device >= DeviceCount()) return kInvalidDevice;
  static std::mutex mutex;
  static std::array<Context*, 64> contexts{};
  std::lock_guard lock(mutex);
  if (!contexts[device]) {
    auto* made = new Context;
    made->device = device;
    made->id = uint32_t(device) + 1;
    made->default_stream.context = made;
    made->default_stream.id = next_stream.fetch_add(1);
    made->streams.push_back(&made->default_stream);
    contexts[device] = made;
    Tell(kContextCreated, {.context = made});
  }
  *context = contexts[device];
  return kSuccess;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return kSuccess;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return kSuccess;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  if (!current) return kInvalidContext;
  *device = current->device;
  return kSuccess;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  if (!current) return kInvalidContext;
  auto* made = new Stream;
  made->context = current;
  made->id = next_stream.fetch_add(1);
  {
    std::lock_guard lock(current->mutex);
    current->streams.push_back(made);
  }
  Tell(kStreamCreated, {.context = current, .stream = made});
  *stream = made;
  return kSuccess;
}

CUresult cuStreamSynchronize(CUstream stream) {
  Stream* on = StreamOrDefault(stream);
  if (!on) return kInvalidContext;
  uint64_t until;
  {
    std::lock_guard lock(on->mutex);
    until = on->busy_until;
  }
  SleepUntil(until);
  return kSuccess;
}

CUresult cuCtxSynchronize() {
  if (!current) return kInvalidContext;
  std::vector<Stream*> streams;
  {
    std::lock_guard lock(current->mutex);
    streams = current->streams;
  }
  for (Stream* stream : streams) cuStreamSynchronize(stream);
  return kSuccess;
}

uint32_t fakeDriverContextId(CUcontext context) {
  return context ? context->id : 0;
}
uint32_t fakeDriverDeviceOf(CUcontext context) {
  return uint32_t(context->device);
}
uint32_t fakeDriverStreamId(CUstream stream) {
  return stream ? stream->id : 0;
}
