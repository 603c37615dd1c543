// A device plane of an XSpace: its metadata, and a walk over its events that builds no message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "io/input.h"
#include "trace/xspace.h"

namespace pgle {

inline constexpr uint32_t kNoOp = UINT32_MAX;

// The stats that the tools read of a device event.
enum class StatKind : uint8_t {
  kIgnored,
  kHloOp,
  kHloModule,
  kProgramId,
  kUniqueHloOpId,
  kScopeRangeId,
  kCorrelationId,
  kKernelDetails,
  kMemcpyDetails,
  kMemsetDetails,
};

enum class ActivityKind : uint8_t { kOther, kKernel, kMemcpy, kMemset };

// An op as the trace names it.
struct TraceOp {
  std::string name;        // hlo_op
  std::string module;      // hlo_module
  int64_t program_id = 0;  // 0 when the event has none
  bool has_program_id = false;
  int64_t unique_id = 0;  // unique_hlo_op_id (XLA since 2026-07); 0 when the event has none
};

struct DeviceEvent {
  uint32_t op = kNoOp;  // index into DevicePlane::ops(); kNoOp without hlo_op or hlo_module
  ActivityKind kind = ActivityKind::kOther;
  bool has_scope = false;
  uint64_t metadata_id = 0;
  int64_t scope = 0;  // scope_range_id: one run of one thunk
  uint64_t correlation = 0;
  Picoseconds start = 0;  // from the start of the profile
  Picoseconds duration = 0;
  int64_t occurrences = 0;  // of an aggregated event, which has no time of its own; else 0
};

struct DeviceLine {
  std::string_view name;  // display_name, or name where that is empty
  Picoseconds origin = 0;
  std::string_view bytes;
};

class DevicePlane {
 public:
  // Reads metadata and the heads of lines; events are not touched.
  // Errors: damaged plane, with the offset.
  static Result<DevicePlane> Open(const Input& input, const PlaneView& plane);

  const std::string& name() const { return name_; }
  const std::vector<DeviceLine>& lines() const { return lines_; }
  // Ops seen so far by ForEachEvent.
  const std::vector<TraceOp>& ops() const { return ops_; }
  std::string_view EventName(uint64_t metadata_id) const;

 private:
  friend class EventReader;
  // An op's identity in the plane: string values get numbers behind the ids of stat metadata.
  struct OpKey {
    uint64_t op = 0, module = 0;
    int64_t program_id = 0;
    bool has_op = false, has_module = false, has_program_id = false;
    int64_t unique_id = 0;
  };
  explicit DevicePlane(const Input& input) : input_(&input) {}
  StatKind KindOf(uint64_t stat_id) const {
    if (stat_id < kinds_.size()) return kinds_[stat_id];
    const auto it = far_kinds_.find(stat_id);
    return it == far_kinds_.end() ? StatKind::kIgnored : it->second;
  }
  // A whole XStat message. False when it is damaged.
  bool ReadStat(std::string_view stat, OpKey& key, DeviceEvent& event);
  void SetInteger(StatKind kind, uint32_t field, uint64_t value, OpKey& key, DeviceEvent& event);
  void SetNumber(StatKind kind, uint64_t number, OpKey& key);
  bool InheritFromMetadata(OpKey& key, DeviceEvent& event);
  // The number of a stat's string or integer value, for the rare stats that are no reference.
  uint64_t NumberOf(std::string text);
  std::string TextOf(uint64_t number) const;
  uint32_t OpFor(const OpKey& key);

  const Input* input_;
  std::string name_;
  std::vector<DeviceLine> lines_;
  std::vector<StatKind> kinds_;  // by stat metadata id
  std::unordered_map<uint64_t, StatKind> far_kinds_;
  std::unordered_map<uint64_t, std::string_view> stat_names_;
  std::unordered_map<uint64_t, MetadataEntry> event_metadata_;
  bool metadata_has_stats_ = false;
  std::unordered_map<std::string, uint64_t> numbers_;
  std::vector<std::string> numbered_;
  std::vector<TraceOp> ops_;
  std::vector<OpKey> op_keys_;
  std::vector<uint32_t> last_op_;  // by stat metadata id of the hlo_op: the op seen last
  std::unordered_map<uint64_t, std::vector<uint32_t>> ops_by_name_;
};

// Walks the events of one line in stored order. Pages behind the walk are handed back, so memory
// stays flat whatever the size of the file.
class EventReader {
 public:
  EventReader(DevicePlane& plane, const DeviceLine& line);
  ~EventReader();
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // False at the end of the line or at a fault.
  bool Next(DeviceEvent* event);
  // The fault that ended the walk, if one did.
  Status status() const;

 private:
  bool Fault(const char* position);
  bool ReadEvent(const char* end, DeviceEvent* event);
  void ReleaseBehind(size_t stride);

  DevicePlane& plane_;
  const Picoseconds origin_;
  const char* p_;
  const char* const end_;
  const char* released_;
  const char* fault_ = nullptr;
};

}  // namespace pgle
