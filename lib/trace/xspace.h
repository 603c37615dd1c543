// What an XSpace file holds, without reading its events: planes by name and place, host, warnings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/input.h"

namespace pgle {

struct PlaneView {
  std::string name;
  std::string_view bytes;  // the XPlane message, in the Input's memory
};

struct XSpaceIndex {
  std::vector<PlaneView> planes;  // in file order
  std::vector<std::string> hostnames, errors, warnings;
};

// Walks the top level alone: a plane's lines and metadata are not touched.
// Errors: truncated or foreign file, with the offset.
Result<XSpaceIndex> IndexXSpace(const Input& input);

// Planes that hold device events: "/device:GPU:*", else "/device:TPU:*", else "/device:CUSTOM:*"
// (XLA: xplane_to_profile_instructions.cc). Indices into `index.planes`, in file order.
std::vector<size_t> DevicePlanes(const XSpaceIndex& index);

// A module in the plane "/host:metadata".
struct TraceModule {
  std::string name;        // as named by the plane, without the id
  int64_t program_id = 0;  // of the name "module(program_id)"
  std::string_view hlo_proto;
};
Result<std::vector<TraceModule>> ModulesInTrace(const Input& input, const XSpaceIndex& index);

// profile_start_time of the plane "Task Environment": nanoseconds since the epoch, 0 if unknown.
// Event times are relative to it; adding it aligns the processes of one host.
Result<uint64_t> ProfileStartTime(const Input& input, const XSpaceIndex& index);

// An entry of a plane's metadata maps: XEventMetadata or XStatMetadata by id.
struct MetadataEntry {
  uint64_t id = 0;
  std::string_view name;
  std::vector<std::string_view> stats;  // of event metadata: XStat messages
};
// False when it is damaged.
bool ReadMetadataEntry(std::string_view entry, MetadataEntry* read);

// The message for a fault at `position` inside `input`.
Error DamagedTrace(const Input& input, const char* position);

}  // namespace pgle
