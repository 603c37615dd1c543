#include "trace/xspace.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_map>

#include "trace/wire.h"

namespace pgle {
namespace {

constexpr uint32_t kSpacePlanes = 1, kSpaceErrors = 2, kSpaceWarnings = 3, kSpaceHostnames = 4;
constexpr uint32_t kPlaneName = 2, kPlaneEventMetadata = 4, kPlaneStatMetadata = 5, kPlaneStats = 6;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

const PlaneView* FindPlane(const XSpaceIndex& index, std::string_view name) {
  for (const PlaneView& plane : index.planes) {
    if (plane.name == name) return &plane;
  }
  return nullptr;
}

// "jit_step(12)" to {"jit_step", 12}.
bool SplitModuleName(std::string_view text, TraceModule* module) {
  const size_t open = text.rfind('(');
  if (open == std::string_view::npos || text.back() != ')') return false;
  uint64_t id = 0;  // XLA prints the id as unsigned
  const char* const end = text.data() + text.size() - 1;
  const auto parsed = std::from_chars(text.data() + open + 1, end, id);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  module->name = text.substr(0, open);
  module->program_id = static_cast<int64_t>(id);
  return true;
}

Status AppendModules(const Input& input, const PlaneView& plane,
                     std::vector<TraceModule>* modules) {
  wire::Fields fields(plane.bytes);
  while (fields.Next()) {
    if (!fields.is_bytes(kPlaneEventMetadata)) continue;
    TraceModule module;
    wire::Fields entry(fields.bytes());
    while (entry.Next()) {
      if (!entry.is_bytes(2)) continue;  // the map's value
      wire::Fields metadata(entry.bytes());
      while (metadata.Next()) {
        if (metadata.is_bytes(2)) SplitModuleName(metadata.bytes(), &module);
        if (!metadata.is_bytes(5)) continue;
        wire::Fields stat(metadata.bytes());
        while (stat.Next()) {
          if (stat.is_bytes(6)) module.hlo_proto = stat.bytes();
        }
        if (!stat.ok()) return DamagedTrace(input, stat.position());
      }
      if (!metadata.ok()) return DamagedTrace(input, metadata.position());
    }
    if (!entry.ok()) return DamagedTrace(input, entry.position());
    if (!module.name.empty() && !module.hlo_proto.empty()) modules->push_back(std::move(module));
  }
  if (!fields.ok()) return DamagedTrace(input, fields.position());
  return {};
}

}  // namespace

bool ReadMetadataEntry(std::string_view bytes, MetadataEntry* read) {
  wire::Fields entry(bytes);
  while (entry.Next()) {
    if (entry.is_varint(1)) read->id = entry.integer();
    if (!entry.is_bytes(2)) continue;
    wire::Fields metadata(entry.bytes());
    while (metadata.Next()) {
      if (metadata.is_varint(1)) read->id = metadata.integer();
      if (metadata.is_bytes(2)) read->name = metadata.bytes();
      if (metadata.is_bytes(5)) read->stats.push_back(metadata.bytes());
    }
    if (!metadata.ok()) return false;
  }
  return entry.ok();
}

Error DamagedTrace(const Input& input, const char* position) {
  const auto offset = static_cast<size_t>(position - input.bytes().data());
  const bool at_end = offset + 16 >= input.bytes().size();
  return Failed(
      input.name(),
      fmt::format("not a whole XSpace trace: bad data at byte {} of {}", offset,
                  input.bytes().size()),
      offset == 0 ? "give an .xplane.pb file that pgle-capture or jax.profiler wrote"
      : at_end    ? "the file was cut while it was written or copied: copy it again"
                  : "the file was cut or damaged at or behind this byte: copy or record it again");
}

Result<XSpaceIndex> IndexXSpace(const Input& input) {
  XSpaceIndex index;
  wire::Fields space(input.bytes());
  while (space.Next()) {
    if (space.is_bytes(kSpacePlanes)) {
      PlaneView plane{"", space.bytes()};
      wire::Fields fields(plane.bytes);
      while (fields.Next()) {
        if (fields.is_bytes(kPlaneName)) {
          plane.name = fields.bytes();
          break;  // the rest is walked only where it is needed
        }
      }
      if (!fields.ok()) return DamagedTrace(input, fields.position());
      index.planes.push_back(std::move(plane));
    } else if (space.is_bytes(kSpaceErrors)) {
      index.errors.emplace_back(space.bytes());
    } else if (space.is_bytes(kSpaceWarnings)) {
      index.warnings.emplace_back(space.bytes());
    } else if (space.is_bytes(kSpaceHostnames)) {
      index.hostnames.emplace_back(space.bytes());
    } else if (space.field() <= kSpaceHostnames || space.field() > 100) {
      return DamagedTrace(input, index.planes.empty() ? input.bytes().data() : space.position());
    }
  }
  if (!space.ok()) {
    const bool foreign = index.planes.empty() && index.hostnames.empty();
    return DamagedTrace(input, foreign ? input.bytes().data() : space.position());
  }
  return index;
}

std::vector<size_t> DevicePlanes(const XSpaceIndex& index) {
  std::vector<size_t> found;
  for (const char* prefix : {"/device:GPU:", "/device:TPU:", "/device:CUSTOM:"}) {
    for (size_t i = 0; i < index.planes.size(); ++i) {
      if (StartsWith(index.planes[i].name, prefix)) found.push_back(i);
    }
    if (!found.empty()) break;
  }
  return found;
}

Result<std::vector<TraceModule>> ModulesInTrace(const Input& input, const XSpaceIndex& index) {
  std::vector<TraceModule> modules;
  for (const PlaneView& plane : index.planes) {
    if (plane.name != "/host:metadata") continue;
    PGLE_RETURN_IF_ERROR(AppendModules(input, plane, &modules));
  }
  return modules;
}
Result<uint64_t> ProfileStartTime(const Input& input, const XSpaceIndex& index) {
  const PlaneView* plane = FindPlane(index, "Task Environment");
  if (plane == nullptr) return uint64_t{0};
  uint64_t wanted_id = 0;
  bool known = false;
  std::unordered_map<uint64_t, uint64_t> values;  // stat metadata id to value
  wire::Fields fields(plane->bytes);
  while (fields.Next()) {
    if (fields.is_bytes(kPlaneStats)) {
      uint64_t id = 0, value = 0;
      wire::Fields stat(fields.bytes());
      while (stat.Next()) {
        if (stat.is_varint(1)) id = stat.integer();
        if (stat.is_varint(3) || stat.is_varint(4)) value = stat.integer();
      }
      values[id] = value;
    } else if (fields.is_bytes(kPlaneStatMetadata)) {
      MetadataEntry entry;
      if (!ReadMetadataEntry(fields.bytes(), &entry)) {
        return DamagedTrace(input, fields.bytes().data());
      }
      if (entry.name == "profile_start_time") {
        wanted_id = entry.id;
        known = true;
      }
    }
  }
  if (!fields.ok()) return DamagedTrace(input, fields.position());
  return known ? values[wanted_id] : uint64_t{0};
}

}  // namespace pgle
