#include "trace/xspace_writer.h"

#include "trace/utf8.h"
#include "trace/wire_encode.h"

namespace pgle {
namespace {

// Field numbers of xplane.proto.
constexpr uint32_t kSpacePlanes = 1, kSpaceWarnings = 3, kSpaceHostnames = 4;
constexpr uint32_t kPlaneId = 1, kPlaneName = 2, kPlaneLines = 3, kPlaneEventMetadata = 4,
                   kPlaneStatMetadata = 5, kPlaneStats = 6;
constexpr uint32_t kLineId = 1, kLineName = 2, kLineTimestamp = 3, kLineEvents = 4;
constexpr uint32_t kEventMetadataId = 1, kEventOffset = 2, kEventDuration = 3, kEventStats = 4;
constexpr uint32_t kMetadataId = 1, kMetadataName = 2, kMetadataDisplayName = 4, kMetadataStats = 5;
constexpr uint32_t kMapKey = 1, kMapValue = 2;
constexpr uint32_t kStatMetadata = 1, kStatDouble = 2, kStatUint64 = 3, kStatInt64 = 4,
                   kStatText = 5, kStatBytes = 6, kStatRef = 7;
constexpr size_t kFlushBytes = size_t{256} << 10;

std::string StatHead(uint64_t id) {
  std::string stat;
  wire::AppendInteger(stat, kStatMetadata, id);
  return stat;
}

std::string IntegerStatOf(uint64_t id, uint32_t field, uint64_t value) {
  std::string stat = StatHead(id);
  wire::AppendInteger(stat, field, value);
  return stat;
}

std::string BytesStatOf(uint64_t id, uint32_t field, std::string_view value) {
  std::string stat = StatHead(id);
  wire::AppendBytes(stat, field, value);
  return stat;
}

size_t SizeOfVarint(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

// Size of a bytes field whose number is below 16.
uint64_t SizeOfBytesField(uint64_t size) {
  return 1 + SizeOfVarint(size) + size;
}

void AppendIntegerField(std::string& out, uint64_t id, uint32_t field, uint64_t value) {
  wire::AppendTag(out, kEventStats, wire::kBytes);
  wire::AppendVarint(out, 2 + SizeOfVarint(id) + SizeOfVarint(value));
  wire::AppendInteger(out, kStatMetadata, id);
  wire::AppendInteger(out, field, value);
}

void AppendMapEntry(std::string& out, uint32_t field, uint64_t key, std::string_view value) {
  std::string entry;
  wire::AppendInteger(entry, kMapKey, key);
  wire::AppendBytes(entry, kMapValue, value);
  wire::AppendBytes(out, field, entry);
}

}  // namespace

std::string IntegerStat(uint64_t id, int64_t value) {
  return IntegerStatOf(id, kStatInt64, static_cast<uint64_t>(value));
}
std::string UnsignedStat(uint64_t id, uint64_t value) {
  return IntegerStatOf(id, kStatUint64, value);
}
std::string TextStat(uint64_t id, std::string_view value) {
  return BytesStatOf(id, kStatText, ToUtf8(value));
}
std::string BytesStat(uint64_t id, std::string_view value) {
  return BytesStatOf(id, kStatBytes, value);
}
std::string DoubleStat(uint64_t id, double value) {
  std::string stat = StatHead(id);
  wire::AppendDouble(stat, kStatDouble, value);
  return stat;
}
std::string RefStat(uint64_t id, uint64_t ref) {
  return IntegerStatOf(id, kStatRef, ref);
}

std::string StatField(std::string_view stat) {
  std::string field;
  wire::AppendBytes(field, kEventStats, stat);
  return field;
}

void AppendIntegerStatField(std::string& out, uint64_t id, int64_t value) {
  AppendIntegerField(out, id, kStatInt64, static_cast<uint64_t>(value));
}
void AppendUnsignedStatField(std::string& out, uint64_t id, uint64_t value) {
  AppendIntegerField(out, id, kStatUint64, value);
}

void EventSink::Add(uint64_t metadata_id, Picoseconds offset, Picoseconds duration,
                    std::string_view constant_stats, std::string_view stats) {
  event_.clear();
  wire::AppendInteger(event_, kEventMetadataId, metadata_id);
  event_ += constant_stats;
  event_ += stats;
  wire::AppendInteger(event_, kEventDuration, static_cast<uint64_t>(duration));
  wire::AppendInteger(event_, kEventOffset, static_cast<uint64_t>(offset));
  if (write_ == nullptr) {
    size_ += SizeOfBytesField(event_.size());
    return;
  }
  wire::AppendBytes(buffer_, kLineEvents, event_);
  if (buffer_.size() >= kFlushBytes) Flush();
}

void EventSink::Flush() {
  size_ += buffer_.size();
  if (status_.ok()) status_ = write_(buffer_);
  buffer_.clear();
}

uint64_t PlaneWriter::StatId(std::string_view name) {
  const auto [it, added] = stat_ids_.try_emplace(std::string(name), stat_names_.size() + 1);
  if (added) stat_names_.emplace_back(name);
  return it->second;
}

uint64_t PlaneWriter::AddEventMetadata(std::string_view name, std::string_view display_name,
                                       const std::vector<std::string>& stats) {
  const uint64_t id = event_metadata_.size() + 1;
  std::string metadata;
  wire::AppendInteger(metadata, kMetadataId, id);
  wire::AppendBytes(metadata, kMetadataName, ToUtf8(name));
  if (!display_name.empty())
    wire::AppendBytes(metadata, kMetadataDisplayName, ToUtf8(display_name));
  for (const std::string& stat : stats) wire::AppendBytes(metadata, kMetadataStats, stat);
  event_metadata_.push_back(std::move(metadata));
  return id;
}

void PlaneWriter::AddLine(int64_t id, std::string name, int64_t timestamp_ns,
                          std::function<void(EventSink&)> events) {
  Line& line = lines_.emplace_back();
  wire::AppendInteger(line.head, kLineId, static_cast<uint64_t>(id));
  wire::AppendBytes(line.head, kLineName, ToUtf8(name));
  wire::AppendInteger(line.head, kLineTimestamp, static_cast<uint64_t>(timestamp_ns));
  line.events = std::move(events);
}

Status XSpaceWriter::Plane(const PlaneWriter& plane) {
  std::string head, tail;
  if (plane.id_ != 0) wire::AppendInteger(head, kPlaneId, static_cast<uint64_t>(plane.id_));
  wire::AppendBytes(head, kPlaneName, ToUtf8(plane.name_));
  for (size_t i = 0; i < plane.event_metadata_.size(); ++i) {
    AppendMapEntry(tail, kPlaneEventMetadata, i + 1, plane.event_metadata_[i]);
  }
  for (size_t i = 0; i < plane.stat_names_.size(); ++i) {
    std::string metadata;
    wire::AppendInteger(metadata, kMetadataId, i + 1);
    wire::AppendBytes(metadata, kMetadataName, ToUtf8(plane.stat_names_[i]));
    AppendMapEntry(tail, kPlaneStatMetadata, i + 1, metadata);
  }
  for (const std::string& stat : plane.stats_) wire::AppendBytes(tail, kPlaneStats, stat);

  uint64_t size = head.size() + tail.size();
  std::vector<uint64_t> line_sizes;
  for (const PlaneWriter::Line& line : plane.lines_) {
    EventSink measure(nullptr);
    line.events(measure);
    line_sizes.push_back(line.head.size() + measure.size_);
    size += SizeOfBytesField(line_sizes.back());
  }

  std::string start;
  wire::AppendTag(start, kSpacePlanes, wire::kBytes);
  wire::AppendVarint(start, size);
  PGLE_RETURN_IF_ERROR(write_(start));
  PGLE_RETURN_IF_ERROR(write_(head));
  for (size_t i = 0; i < plane.lines_.size(); ++i) {
    const PlaneWriter::Line& line = plane.lines_[i];
    start.clear();
    wire::AppendTag(start, kPlaneLines, wire::kBytes);
    wire::AppendVarint(start, line_sizes[i]);
    start += line.head;
    PGLE_RETURN_IF_ERROR(write_(start));
    EventSink sink(write_);
    line.events(sink);
    sink.Flush();
    PGLE_RETURN_IF_ERROR(sink.status_);
    if (line.head.size() + sink.size_ != line_sizes[i]) {
      return Failed(plane.name_, "a line gave other events when it was written than before",
                    "this is a defect of the program: report it");
    }
  }
  return write_(tail);
}

Status XSpaceWriter::Warning(std::string_view text) {
  std::string field;
  wire::AppendBytes(field, kSpaceWarnings, ToUtf8(text));
  return write_(field);
}

Status XSpaceWriter::Hostname(std::string_view name) {
  std::string field;
  wire::AppendBytes(field, kSpaceHostnames, ToUtf8(name));
  return write_(field);
}

}  // namespace pgle
