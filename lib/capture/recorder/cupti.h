// CUPTI's functions, taken at run time from the copy of libcupti that the process uses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "capture/recorder/control_page.h"
#include "capture/recorder/cupti_abi.h"

namespace pgle::recorder::cupti {

struct Api {
  Result (*get_version)(uint32_t*);
  Result (*subscribe)(Subscriber*, CallbackFunction, void*);
  Result (*enable_callback)(uint32_t enable, Subscriber, Domain, uint32_t callback);
  Result (*register_callbacks)(RequestBuffer, CompleteBuffer);
  Result (*enable)(ActivityKind);
  Result (*disable)(ActivityKind);
  Result (*flush_all)(uint32_t flags);
  Result (*next_record)(uint8_t* buffer, size_t size, Activity** record);
  Result (*dropped_records)(void* context, uint32_t stream, size_t* dropped);
  Result (*result_string)(Result, const char**);
  Result (*graph_node_id)(void* node, uint64_t* id);
  Result (*set_attribute)(Attribute, size_t* size, void* value);  // may be null

  uint32_t version = 0;
  char path[512] = {};  // of the library
};

// Loads libcupti: PGLE_CUPTI_PATH; else the copy that is mapped already; else the one that lies
// beside the CUDA libraries of the process (the wheels' layout); else by name; else the toolkit's
// folder. Returns kNone, or kNoCupti or kUnknownCupti with a text.
Fault Load(Api* api, uint32_t driver_version, char* text, size_t text_size, int* code);

const char* NameOf(const Api& api, Result result);

}  // namespace pgle::recorder::cupti
