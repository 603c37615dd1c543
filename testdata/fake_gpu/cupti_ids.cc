// What the fake CUPTI answers about itself, about devices and about graphs.
#include <time.h>

#include "cupti_api.h"
#include "cupti_knobs.h"

using namespace pgle::fake;

PGLE_CUPTI cuptiGetVersion(uint32_t* version) {
  *version = GetKnobs().version;
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetTimestamp(uint64_t* timestamp) {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  *timestamp = uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetResultString(CuptiResult result, const char** text) {
  switch (result) {
    case kCuptiSuccess:
      *text = "CUPTI_SUCCESS";
      break;
    case kCuptiInvalidParameter:
      *text = "CUPTI_ERROR_INVALID_PARAMETER";
      break;
    case kCuptiMaxLimitReached:
      *text = "CUPTI_ERROR_MAX_LIMIT_REACHED";
      break;
    case kCuptiNotInitialized:
      *text = "CUPTI_ERROR_NOT_INITIALIZED";
      break;
    case kCuptiInvalidKind:
      *text = "CUPTI_ERROR_INVALID_KIND";
      break;
    case kCuptiInsufficientPrivileges:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    case kCuptiMultipleSubscribers:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case kCuptiUnknown:
      *text = "CUPTI_ERROR_UNKNOWN";
      break;
    default:
      return kCuptiInvalidParameter;
  }
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetDeviceId(CUcontext context, uint32_t* device) {
  if (!context) TheDriver().current_context(&context);
  if (!context) return 3;  // CUPTI_ERROR_INVALID_CONTEXT
  *device = TheDriver().device_of(context);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (!context) return 3;
  *id = TheDriver().context_id(context);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetStreamId(CUcontext, CUstream stream, uint32_t* id) {
  *id = TheDriver().stream_id(stream);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t, uint32_t* id) {
  *id = TheDriver().stream_id(stream);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  if (!node) return kCuptiInvalidParameter;
  *id = TheDriver().node_id(node);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  if (!graph) return kCuptiInvalidParameter;
  *id = TheDriver().graph_id(graph);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiGetGraphExecId(CUgraphExec exec, uint32_t* id) {
  if (!exec) return kCuptiInvalidParameter;
  *id = TheDriver().exec_id(exec);
  return kCuptiSuccess;
}

PGLE_CUPTI cuptiSetThreadIdType(int) {
  return kCuptiSuccess;
}
