// Grows a real GPU trace to any size, past 2 and 4 GiB too, for benchmarks and size tests.
//
//   grow_trace INPUT.xplane.pb OUTPUT.xplane.pb --device-copies N [--other-bytes BYTES]
//
// Every line of a /device:GPU: plane gets its events N times. Copy k is shifted in time by k times
// the span of the whole trace, the same for all planes, and has its own scope_range_id and
// correlation_id; everything else stays. --other-bytes repeats the events of the /host: planes in
// the same way until their lines hold about BYTES. The input must fit a protobuf message (2 GiB);
// the output is a stream: of each plane, a first pass counts the lengths and a second one writes.
// Prints one line: GPU events, bytes of the device planes, bytes of all other planes.

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "xplane.pb.h"

namespace {

using google::protobuf::io::CodedOutputStream;
using pgle::proto::XEvent, pgle::proto::XLine, pgle::proto::XPlane, pgle::proto::XStat;
__extension__ typedef __int128 Int128;

[[noreturn]] void Fail(const std::string& message) {
  std::cerr << "grow_trace: " + message + "\n";
  std::exit(1);
}

// Lowest and highest value seen. The width is for times of any origin.
struct Range {
  void Add(Int128 low, Int128 high) { min = std::min(min, low), max = std::max(max, high); }
  // The step that keeps `copies` shifted copies of the range apart.
  uint64_t Stride(uint64_t copies, const char* what) const {
    if (min > max) return 0;
    const Int128 stride = max - min + 1;
    if (max + stride * copies > std::numeric_limits<int64_t>::max()) {
      Fail(std::string(what) + " would pass 2^63: use fewer copies");
    }
    return static_cast<uint64_t>(stride);
  }
  Int128 min = Int128{1} << 100, max = -min;
};

// What differs between copies: the ids are stats, the time is that of an event.
enum Quantity { kTime, kScope, kCorrelation, kQuantities };
using Strides = std::array<uint64_t, kQuantities>;

// Calls visit(quantity, &value) for each id of the event; visit may change the value.
template <typename Visit>
void ForEachId(const XPlane& plane, XEvent* event, Visit visit) {
  for (XStat& stat : *event->mutable_stats()) {
    if (!stat.has_int64_value() && !stat.has_uint64_value()) continue;
    const auto metadata = plane.stat_metadata().find(stat.metadata_id());
    if (metadata == plane.stat_metadata().end()) continue;
    const bool scope = metadata->second.name() == "scope_range_id";
    if (!scope && metadata->second.name() != "correlation_id") continue;
    uint64_t id = stat.has_int64_value() ? stat.int64_value() : stat.uint64_value();
    visit(scope ? kScope : kCorrelation, &id);
    stat.has_int64_value() ? stat.set_int64_value(id) : stat.set_uint64_value(id);
  }
}

// Calls visit(event) for every event of every copy of the line's events, which are then as before.
template <typename Visit>
void ForEachCopy(const XPlane& plane, uint64_t copies, const Strides& strides, XLine* line,
                 Visit visit) {
  for (uint64_t k = 0; k < copies; ++k) {
    const uint64_t steps = k + 1 < copies ? 1 : 1 - copies;  // to the next, at last to the first
    for (XEvent& event : *line->mutable_events()) {
      visit(event);
      if (event.has_offset_ps()) event.set_offset_ps(event.offset_ps() + steps * strides[kTime]);
      ForEachId(plane, &event, [&](Quantity q, uint64_t* id) { *id += steps * strides[q]; });
    }
  }
}

// Map entries in the order of their keys, so that equal inputs give equal files.
std::string Serialize(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

uint64_t FieldBytes(uint64_t length) {
  return 1 + CodedOutputStream::VarintSize64(length) + length;
}

void WriteHeader(int field, uint64_t length, std::ostream* out) {
  uint8_t bytes[16] = {static_cast<uint8_t>(field << 3 | 2)};
  uint8_t* end = CodedOutputStream::WriteVarint64ToArray(length, bytes + 1);
  out->write(reinterpret_cast<const char*>(bytes), end - bytes);
}

// Writes the plane with its events copied; uses up the message. Returns the bytes of the plane.
uint64_t WritePlane(XPlane* plane, uint64_t copies, const Strides& strides, std::ostream* out) {
  struct Split {
    std::string before, after;  // the fields around the repeated one
    uint64_t bytes;
  };
  std::vector<Split> lines;
  uint64_t bytes = 0;
  for (XLine& line : *plane->mutable_lines()) {
    XLine before, after = line;
    before.set_id(line.id());
    before.set_name(line.name());
    before.set_timestamp_ns(line.timestamp_ns());
    after.clear_id(), after.clear_name(), after.clear_timestamp_ns(), after.clear_events();
    Split& split = lines.emplace_back(Split{Serialize(before), Serialize(after), 0});
    split.bytes = split.before.size() + split.after.size();
    ForEachCopy(*plane, copies, strides, &line,
                [&](const XEvent& event) { split.bytes += FieldBytes(event.ByteSizeLong()); });
    bytes += FieldBytes(split.bytes);
  }
  XPlane before, after = *plane;
  before.set_id(plane->id());
  before.set_name(plane->name());
  after.clear_id(), after.clear_name(), after.clear_lines();
  const Split split{Serialize(before), Serialize(after), 0};
  bytes += split.before.size() + split.after.size();
  WriteHeader(1, bytes, out);
  *out << split.before;
  std::string buffer;
  for (size_t i = 0; i < lines.size(); ++i) {
    WriteHeader(3, lines[i].bytes, out);
    *out << lines[i].before;
    ForEachCopy(*plane, copies, strides, plane->mutable_lines(i), [&](const XEvent& event) {
      event.SerializeToString(&buffer);
      WriteHeader(4, buffer.size(), out);
      *out << buffer;
    });
    *out << lines[i].after;
  }
  *out << split.after;
  return bytes;
}

uint64_t ParseCount(const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || text.empty() || text[0] == '0' || text.size() > 15)
    Fail("not a count: '" + text + "'");
  return std::stoull(text);
}

bool IsDevice(const XPlane& plane) {
  return plane.name().starts_with("/device:GPU:");
}
bool IsHost(const XPlane& plane) {
  return plane.name().starts_with("/host:");
}

void Grow(const std::string& input, const std::string& output, uint64_t device_copies,
          uint64_t other_bytes) {
  pgle::proto::XSpace space;
  std::ifstream in(input, std::ios::binary);
  if (!in) Fail(input + ": cannot be read");
  if (!space.ParseFromIstream(&in)) Fail(input + ": not an XSpace");
  std::array<Range, kQuantities> ranges;
  uint64_t device_events = 0, host_bytes = 0;
  int64_t origin_ns = std::numeric_limits<int64_t>::max();
  for (const XPlane& plane : space.planes()) {
    for (const XLine& line : plane.lines()) origin_ns = std::min(origin_ns, line.timestamp_ns());
  }
  for (XPlane& plane : *space.mutable_planes()) {
    for (XLine& line : *plane.mutable_lines()) {
      if (IsDevice(plane)) device_events += line.events_size();
      if (IsHost(plane) && !line.events().empty()) host_bytes += line.ByteSizeLong();
      for (XEvent& event : *line.mutable_events()) {
        if (event.has_offset_ps()) {
          const Int128 start = (Int128{line.timestamp_ns()} - origin_ns) * 1000 + event.offset_ps();
          ranges[kTime].Add(start, start + event.duration_ps());
        }
        ForEachId(plane, &event, [&](Quantity q, uint64_t* id) { ranges[q].Add(*id, *id); });
      }
    }
  }
  if (device_events == 0) Fail(input + ": no event on a /device:GPU: plane");
  if (other_bytes > 0 && host_bytes == 0) Fail(input + ": no event on a /host: plane");
  const uint64_t host_copies = other_bytes == 0 ? 1 : (other_bytes - 1) / host_bytes + 1;
  const uint64_t copies = std::max(device_copies, host_copies);
  const Strides strides = {ranges[kTime].Stride(copies, "event times"),
                           ranges[kScope].Stride(copies, "scope_range_id"),
                           ranges[kCorrelation].Stride(copies, "correlation_id")};

  std::ofstream out(output, std::ios::binary);
  if (!out) Fail(output + ": cannot be written");
  uint64_t device_plane_bytes = 0, other_plane_bytes = 0;
  for (XPlane& plane : *space.mutable_planes()) {
    const bool device = IsDevice(plane);
    const uint64_t n = device ? device_copies : IsHost(plane) ? host_copies : 1;
    (device ? device_plane_bytes : other_plane_bytes) += WritePlane(&plane, n, strides, &out);
  }
  space.clear_planes();
  out << Serialize(space);
  out.close();
  if (!out) Fail(output + ": write failed");
  std::cout << "gpu_events " << device_events * device_copies << " device_bytes "
            << device_plane_bytes << " other_bytes " << other_plane_bytes << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  google::protobuf::SetLogHandler(nullptr);  // its lines would add to ours
  if ((argc != 5 && argc != 7) || argv[3] != std::string("--device-copies") ||
      (argc == 7 && argv[5] != std::string("--other-bytes"))) {
    Fail("usage: grow_trace INPUT OUTPUT --device-copies N [--other-bytes BYTES]");
  }
  Grow(argv[1], argv[2], ParseCount(argv[4]), argc == 7 ? ParseCount(argv[6]) : 0);
}
