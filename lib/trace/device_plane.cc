#include "trace/device_plane.h"

#include <algorithm>
#include <string>

#include "trace/wire.h"

namespace pgle {
namespace {

constexpr uint32_t kPlaneLines = 3, kPlaneEventMetadata = 4, kPlaneStatMetadata = 5;
constexpr uint32_t kLineEvents = 4;
constexpr uint32_t kStatDouble = 2, kStatUint64 = 3, kStatInt64 = 4, kStatString = 5,
                   kStatBytes = 6, kStatRef = 7;
constexpr size_t kReleaseStride = size_t{4} << 20;
constexpr uint64_t kDenseIds = uint64_t{1} << 16;      // ids below this index a vector
constexpr uint64_t kNumberedBase = uint64_t{1} << 63;  // numbers of texts that are no reference

// Times beyond these are damage, and would overflow sums. Nanoseconds since the epoch fit.
constexpr Picoseconds kLatestPs = Picoseconds{1} << 61;
constexpr Picoseconds kLongestPs = Picoseconds{1} << 53;  // 2.5 hours

bool IsStream(std::string_view line_name) {
  return line_name.substr(0, 8) == "Stream #";
}

StatKind KindOfName(std::string_view name) {
  if (name == "hlo_op") return StatKind::kHloOp;
  if (name == "hlo_module") return StatKind::kHloModule;
  if (name == "program_id") return StatKind::kProgramId;
  if (name == "unique_hlo_op_id") return StatKind::kUniqueHloOpId;
  if (name == "scope_range_id") return StatKind::kScopeRangeId;
  if (name == "correlation_id") return StatKind::kCorrelationId;
  if (name == "kernel_details") return StatKind::kKernelDetails;
  if (name == "memcpy_details") return StatKind::kMemcpyDetails;
  if (name == "memset_details" || name == "Memset_details") return StatKind::kMemsetDetails;
  return StatKind::kIgnored;
}

}  // namespace

Result<DevicePlane> DevicePlane::Open(const Input& input, const PlaneView& plane) {
  DevicePlane opened(input);
  opened.name_ = plane.name;
  wire::Fields fields(plane.bytes);
  while (fields.Next()) {
    if (fields.is_bytes(kPlaneLines)) {
      // Writers put name and origin before the events, and a display name behind them. Streams have
      // none, so only other lines are read to their end for it.
      DeviceLine line{{}, 0, fields.bytes()};
      std::string_view name, display_name;
      wire::Fields head(line.bytes);
      bool has_origin = false;
      while (head.Next()) {
        if (head.is_bytes(kLineEvents) && has_origin && IsStream(name)) break;
        if (head.is_bytes(2)) name = head.bytes();
        if (head.is_bytes(11)) display_name = head.bytes();
        if (head.is_varint(3)) {
          const auto origin_ns = static_cast<int64_t>(head.integer());
          if (origin_ns < 0 || origin_ns > kLatestPs / kPicosecondsPerNanosecond) {
            return DamagedTrace(input, head.position());
          }
          line.origin = origin_ns * kPicosecondsPerNanosecond;
          has_origin = true;
        }
      }
      if (!head.ok()) return DamagedTrace(input, head.position());
      line.name = display_name.empty() ? name : display_name;
      opened.lines_.push_back(line);
    } else if (fields.is_bytes(kPlaneEventMetadata)) {
      MetadataEntry entry;
      if (!ReadMetadataEntry(fields.bytes(), &entry)) {
        return DamagedTrace(input, fields.bytes().data());
      }
      opened.metadata_has_stats_ |= !entry.stats.empty();
      opened.event_metadata_[entry.id] = std::move(entry);
    } else if (fields.is_bytes(kPlaneStatMetadata)) {
      MetadataEntry entry;
      if (!ReadMetadataEntry(fields.bytes(), &entry)) {
        return DamagedTrace(input, fields.bytes().data());
      }
      opened.stat_names_[entry.id] = entry.name;
      const StatKind kind = KindOfName(entry.name);
      if (entry.id < kDenseIds) {
        if (opened.kinds_.size() <= entry.id) {
          opened.kinds_.resize(entry.id + 1, StatKind::kIgnored);
        }
        opened.kinds_[entry.id] = kind;
      } else if (kind != StatKind::kIgnored) {
        opened.far_kinds_[entry.id] = kind;
      }
    }
  }
  if (!fields.ok()) return DamagedTrace(input, fields.position());
  return opened;
}

std::string_view DevicePlane::EventName(uint64_t metadata_id) const {
  const auto it = event_metadata_.find(metadata_id);
  return it == event_metadata_.end() ? std::string_view() : it->second.name;
}

void DevicePlane::SetNumber(StatKind kind, uint64_t number, OpKey& key) {
  if (kind == StatKind::kHloOp) {
    key.op = number;
    key.has_op = true;
  } else {
    key.module = number;
    key.has_module = true;
  }
}

void DevicePlane::SetInteger(StatKind kind, uint32_t field, uint64_t value, OpKey& key,
                             DeviceEvent& event) {
  switch (kind) {
    case StatKind::kHloOp:
    case StatKind::kHloModule:
      SetNumber(kind,
                field == kStatRef     ? value
                : field == kStatInt64 ? NumberOf(std::to_string(static_cast<int64_t>(value)))
                                      : NumberOf(std::to_string(value)),
                key);
      break;
    case StatKind::kProgramId:
      // XLA's extraction reads int64_value only: an unsigned one counts as 0 there.
      key.program_id = field == kStatInt64 ? static_cast<int64_t>(value) : 0;
      key.has_program_id = true;
      break;
    case StatKind::kUniqueHloOpId:
      key.unique_id = static_cast<int64_t>(value);
      break;
    case StatKind::kScopeRangeId:
      event.scope = static_cast<int64_t>(value);
      event.has_scope = true;
      break;
    case StatKind::kCorrelationId:
      event.correlation = value;
      break;
    // Of the details their presence is all that matters.
    case StatKind::kKernelDetails:
      event.kind = ActivityKind::kKernel;
      break;
    case StatKind::kMemcpyDetails:
      event.kind = ActivityKind::kMemcpy;
      break;
    case StatKind::kMemsetDetails:
      event.kind = ActivityKind::kMemset;
      break;
    case StatKind::kIgnored:
      break;
  }
}

bool DevicePlane::ReadStat(std::string_view stat, OpKey& key, DeviceEvent& event) {
  uint64_t id = 0, integer = 0;
  uint32_t field = 0;
  std::string_view text;
  double real = 0;
  wire::Fields fields(stat);
  while (fields.Next()) {
    if (fields.is_varint(1)) {
      id = fields.integer();
      continue;
    }
    field = fields.field();
    if (fields.is_varint(field)) integer = fields.integer();
    if (fields.is_bytes(field)) text = fields.bytes();
    if (fields.is_fixed64(field)) real = fields.real();
  }
  if (!fields.ok()) return false;
  const StatKind kind = KindOf(id);
  switch (field) {
    case kStatUint64:
    case kStatInt64:
    case kStatRef:
      SetInteger(kind, field, integer, key, event);
      return true;
    case kStatDouble:
    case kStatString:
    case kStatBytes:
      break;
    default:
      return true;  // a stat without a value says nothing
  }
  if (kind == StatKind::kHloOp || kind == StatKind::kHloModule) {
    SetNumber(kind,
              NumberOf(field == kStatDouble   ? std::to_string(real)
                       : field == kStatString ? std::string(text)
                                              : "<opaque bytes>"),
              key);
  } else if (kind >= StatKind::kKernelDetails) {
    SetInteger(kind, field, 0, key, event);
  }
  return true;
}

uint64_t DevicePlane::NumberOf(std::string text) {
  const auto [it, added] = numbers_.try_emplace(text, kNumberedBase + numbered_.size());
  if (added) numbered_.push_back(std::move(text));
  return it->second;
}

std::string DevicePlane::TextOf(uint64_t number) const {
  if (number >= kNumberedBase && number - kNumberedBase < numbered_.size()) {
    return numbered_[number - kNumberedBase];
  }
  const auto it = stat_names_.find(number);
  return it == stat_names_.end() ? std::string() : std::string(it->second);
}

uint32_t DevicePlane::OpFor(const OpKey& key) {
  const auto is_same = [&](uint32_t op) {
    const OpKey& seen = op_keys_[op];
    return seen.op == key.op && seen.module == key.module && seen.program_id == key.program_id &&
           seen.has_program_id == key.has_program_id && seen.unique_id == key.unique_id;
  };
  const bool dense = key.op < kDenseIds;
  if (dense && key.op < last_op_.size()) {
    const uint32_t last = last_op_[key.op];
    if (last != kNoOp && is_same(last)) return last;
  }
  if (TextOf(key.op).empty()) return kNoOp;  // a reference to nothing
  std::vector<uint32_t>& namesakes = ops_by_name_[key.op];
  auto found = std::find_if(namesakes.begin(), namesakes.end(), is_same);
  if (found == namesakes.end()) {
    TraceOp op;
    op.name = TextOf(key.op);
    op.module = TextOf(key.module);
    op.program_id = key.program_id;
    op.has_program_id = key.has_program_id;
    op.unique_id = key.unique_id;
    namesakes.push_back(static_cast<uint32_t>(ops_.size()));
    found = namesakes.end() - 1;
    ops_.push_back(std::move(op));
    op_keys_.push_back(key);
  }
  if (dense) {
    if (last_op_.size() <= key.op) last_op_.resize(key.op + 1, kNoOp);
    last_op_[key.op] = *found;
  }
  return *found;
}

bool DevicePlane::InheritFromMetadata(OpKey& key, DeviceEvent& event) {
  const auto metadata = event_metadata_.find(event.metadata_id);
  if (metadata == event_metadata_.end() || metadata->second.stats.empty()) return true;
  OpKey inherited;
  DeviceEvent details;
  for (std::string_view stat : metadata->second.stats) {
    if (!ReadStat(stat, inherited, details)) return false;
  }
  // An event's own stat overrides its metadata's.
  if (key.has_op) inherited.op = key.op;
  if (key.has_module) inherited.module = key.module;
  if (key.has_program_id) inherited.program_id = key.program_id;
  if (key.unique_id != 0) inherited.unique_id = key.unique_id;
  inherited.has_op |= key.has_op;
  inherited.has_module |= key.has_module;
  inherited.has_program_id |= key.has_program_id;
  key = inherited;
  if (event.kind == ActivityKind::kOther) event.kind = details.kind;
  return true;
}

EventReader::EventReader(DevicePlane& plane, const DeviceLine& line)
    : plane_(plane),
      origin_(line.origin),
      p_(line.bytes.data()),
      end_(line.bytes.data() + line.bytes.size()),
      released_(p_) {}

EventReader::~EventReader() {
  ReleaseBehind(0);
}

void EventReader::ReleaseBehind(size_t stride) {
  if (static_cast<size_t>(p_ - released_) < stride) return;
  const char* const base = plane_.input_->bytes().data();
  plane_.input_->Release(static_cast<size_t>(released_ - base), static_cast<size_t>(p_ - base));
  released_ = p_;
}

bool EventReader::Fault(const char* position) {
  fault_ = position;
  return false;
}

Status EventReader::status() const {
  if (fault_ == nullptr) return {};
  return DamagedTrace(*plane_.input_, fault_);
}

bool EventReader::Next(DeviceEvent* event) {
  constexpr unsigned char kEventTag = kLineEvents << 3 | wire::kBytes;
  while (fault_ == nullptr && p_ < end_) {
    const char* const field = p_;
    uint64_t tag, size;
    if (static_cast<unsigned char>(*p_) != kEventTag) {
      if (!wire::ReadVarint(p_, end_, tag) || !wire::Skip(p_, end_, tag & 7)) return Fault(field);
      continue;
    }
    ++p_;
    if (!wire::ReadVarint(p_, end_, size) || size > static_cast<uint64_t>(end_ - p_)) {
      return Fault(field);
    }
    if (!ReadEvent(p_ + size, event)) return false;
    ReleaseBehind(kReleaseStride);
    return true;
  }
  return false;
}

bool EventReader::ReadEvent(const char* end, DeviceEvent* event) {
  constexpr unsigned char kStatTag = 4 << 3 | wire::kBytes;
  *event = DeviceEvent();
  event->start = origin_;
  DevicePlane::OpKey key;
  while (p_ < end) {
    const char* const field = p_;
    uint64_t value;
    if (static_cast<unsigned char>(*p_) == kStatTag) [[likely]] {
      ++p_;
      if (!wire::ReadVarint(p_, end, value) || value > static_cast<uint64_t>(end - p_)) {
        return Fault(field);
      }
      const char* const stat = p_;
      const char* s = p_;
      p_ += value;
      // Fast path: metadata id first, then one integer. Most stats are of no interest.
      uint64_t id;
      if (s < p_ && *s == (1 << 3 | wire::kVarint) && wire::ReadVarint(++s, p_, id)) [[likely]] {
        const StatKind kind = plane_.KindOf(id);
        if (kind == StatKind::kIgnored) continue;
        if (s < p_ && (*s & 7) == wire::kVarint) {
          const uint32_t value_field = static_cast<unsigned char>(*s++) >> 3;
          if (value_field >= kStatUint64 && value_field <= kStatRef &&
              wire::ReadVarint(s, p_, value) && s == p_) [[likely]] {
            plane_.SetInteger(kind, value_field, value, key, *event);
            continue;
          }
        }
      }
      if (!plane_.ReadStat({stat, static_cast<size_t>(p_ - stat)}, key, *event)) {
        return Fault(stat);
      }
      continue;
    }
    uint64_t tag;
    if (!wire::ReadVarint(p_, end, tag)) return Fault(field);
    if ((tag & 7) != wire::kVarint) {
      if (!wire::Skip(p_, end, tag & 7)) return Fault(field);
      continue;
    }
    if (!wire::ReadVarint(p_, end, value)) return Fault(field);
    switch (tag >> 3) {
      case 1:
        event->metadata_id = value;
        break;
      case 2:
        if (value > static_cast<uint64_t>(kLatestPs)) return Fault(field);
        event->start = origin_ + static_cast<Picoseconds>(value);
        break;
      case 3:
        if (value > static_cast<uint64_t>(kLongestPs)) return Fault(field);
        event->duration = static_cast<Picoseconds>(value);
        break;
      case 5:
        event->occurrences = static_cast<int64_t>(value);
        break;
      default:
        break;
    }
  }
  if (plane_.metadata_has_stats_ && !plane_.InheritFromMetadata(key, *event)) return Fault(p_);
  if (key.has_op && key.has_module) event->op = plane_.OpFor(key);
  return true;
}

}  // namespace pgle
