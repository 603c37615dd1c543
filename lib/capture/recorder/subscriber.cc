#include "capture/recorder/subscriber.h"

#include "capture/recorder/clock.h"
#include "capture/recorder/recorder.h"

namespace pgle::recorder {
namespace {

// CUpti_driver_api_trace_cbid of the functions that launch kernels, graphs, copies and sets, as
// ranges. An older CUPTI refuses the numbers that it does not know.
struct Range {
  uint32_t first, last;
};
constexpr Range kLaunchFunctions[] = {
    {276, 293},  // cuMemcpyHtoD_v2 ... cuMemcpyHtoAAsync_v2
    {249, 254},  // cuMemsetD8_v2 ... cuMemsetD2D32_v2
    {305, 307},  // cuMemcpy, cuMemcpyAsync, cuLaunchKernel
    {318, 321},  // cuMemcpyPeer ... cuMemcpy3DPeerAsync
    {216, 216}, {218, 218}, {220, 220}, {222, 222}, {224, 224}, {226, 226},  // cuMemset*Async
    {397, 416},  // cuMemcpy*_ptds, cuMemset*_ptds
    {418, 433},  // cuMemcpy*_ptsz, cuMemset*_ptsz
    {442, 442},  // cuLaunchKernel_ptsz
    {477, 478},  // cuLaunchCooperativeKernel, _ptsz
    {514, 515},  // cuGraphLaunch, _ptsz
    {652, 653},  // cuLaunchKernelEx, _ptsz
    {776, 779},  // cuMemcpyBatchAsync ... cuMemcpy3DBatchAsync_ptsz (12.8)
    {796, 799},  // the same, _v2 (13.0)
    {837, 840},  // cuMemcpyWithAttributesAsync ... cuMemcpy3DWithAttributesAsync_ptsz (later
                 // than 13.0)
};

void OnLaunch(Recorder* recorder, uint32_t callback, const cupti::CallbackData& data) {
  // The time of the entry is kept by CUPTI for the exit, which writes the event.
  if (data.site == cupti::kEnter) {
    if (data.correlation_data != nullptr) *data.correlation_data = RealtimeNow();
    return;
  }
  ThreadState* const thread = recorder->threads.Current();
  if (thread == nullptr) return;
  EventRing* const ring = recorder->threads.RingOf(thread);
  if (ring == nullptr) return;
  const uint64_t now = RealtimeNow();
  uint64_t start = data.correlation_data != nullptr ? *data.correlation_data : 0;
  if (start == 0 || start > now) start = now;  // the callbacks were turned on inside the call
  const uint64_t duration = now - start;
  Event event{EventKind::kLaunch, kNoDevice, static_cast<uint16_t>(callback), thread->stack(), {}};
  event.launch = {start, static_cast<uint32_t>(duration < UINT32_MAX ? duration : UINT32_MAX),
                  data.correlation_id, thread->scope(), thread->execution};
  ring->Push(event);
}

void OnGraphNode(Recorder* recorder, uint32_t callback, const cupti::ResourceData& data) {
  const auto* const graph = static_cast<const cupti::GraphData*>(data.descriptor);
  if (graph == nullptr) return;
  ThreadState* const thread = recorder->threads.Current();
  EventRing* const ring = thread == nullptr ? nullptr : recorder->threads.RingOf(thread);
  if (ring == nullptr) return;
  Event event{EventKind::kNodeCreated, kNoDevice, 0, thread->stack(), {}};
  event.graph = {};
  event.graph.scope = thread->scope();
  if (recorder->cupti.graph_node_id(graph->node, &event.graph.node) != cupti::kSuccess) return;
  if (callback == cupti::kGraphNodeCloned) {
    event.kind = EventKind::kNodeCloned;
    if (recorder->cupti.graph_node_id(graph->original_node, &event.graph.original) !=
        cupti::kSuccess) {
      return;
    }
  }
  ring->Push(event);
}

// cudaProfilerStart() returns once activity is on, so that the very next kernel is recorded.
void AwaitActivity(const Recorder& recorder) {
  const timespec pause = {0, 1'000'000};
  for (int i = 0; i < 2000 && recorder.slot->state.load() == ProcessState::kReady; ++i) {
    nanosleep(&pause, nullptr);
  }
}

void OnCallback(void*, cupti::Domain domain, uint32_t callback, const void* data) {
  Recorder* const recorder = TheRecorder();
  if (recorder == nullptr || data == nullptr) return;
  if (domain == cupti::kResource) {
    OnGraphNode(recorder, callback, *static_cast<const cupti::ResourceData*>(data));
    return;
  }
  if (domain != cupti::kDriverApi) return;
  const auto& call = *static_cast<const cupti::CallbackData*>(data);
  if (callback == cupti::kProfilerStart || callback == cupti::kProfilerStop) {
    if (call.site != cupti::kExit) return;
    auto& count =
        callback == cupti::kProfilerStart ? recorder->profiler_starts : recorder->profiler_stops;
    count.fetch_add(1, std::memory_order_release);
    if (callback == cupti::kProfilerStart) AwaitActivity(*recorder);
    return;
  }
  OnLaunch(recorder, callback, call);
}

}  // namespace

cupti::Result Subscribe(Recorder* recorder, const char** call) {
  const cupti::Api& api = recorder->cupti;
  *call = "cuptiSubscribe";
  cupti::Result result = api.subscribe(&recorder->subscriber, OnCallback, nullptr);
  if (result != cupti::kSuccess) return result;
  *call = "cuptiEnableCallback";
  for (const uint32_t callback : {cupti::kGraphNodeCreated, cupti::kGraphNodeCloned}) {
    result = api.enable_callback(1, recorder->subscriber, cupti::kResource, callback);
    if (result != cupti::kSuccess) return result;
  }
  return result;
}

cupti::Result EnableLaunches(Recorder* recorder, bool enable) {
  bool has_any = false;
  cupti::Result result = cupti::kSuccess;
  for (const Range& range : kLaunchFunctions) {
    for (uint32_t callback = range.first; callback <= range.last; ++callback) {
      result = recorder->cupti.enable_callback(enable ? 1 : 0, recorder->subscriber,
                                               cupti::kDriverApi, callback);
      has_any |= result == cupti::kSuccess;
    }
  }
  return has_any ? cupti::kSuccess : result;
}

cupti::Result EnableProfilerApi(Recorder* recorder) {
  for (const uint32_t callback : {cupti::kProfilerStart, cupti::kProfilerStop}) {
    const cupti::Result result =
        recorder->cupti.enable_callback(1, recorder->subscriber, cupti::kDriverApi, callback);
    if (result != cupti::kSuccess) return result;
  }
  return cupti::kSuccess;
}

}  // namespace pgle::recorder
