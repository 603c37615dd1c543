// Writes an XSpace as a stream. A length stands before its message, and a device line may hold
// millions of events: so the events of a line come from a function that is called twice, once to
// be measured and once to be written, and never lie in memory together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace pgle {

// One XStat message. `id` is that of the stat's metadata.
std::string IntegerStat(uint64_t id, int64_t value);
std::string UnsignedStat(uint64_t id, uint64_t value);
std::string TextStat(uint64_t id, std::string_view value);
std::string BytesStat(uint64_t id, std::string_view value);
std::string DoubleStat(uint64_t id, double value);
std::string RefStat(uint64_t id, uint64_t ref);  // `ref`: StatId() of the text
// An XStat as a field of an XEvent: what EventSink::Add takes.
std::string StatField(std::string_view stat);
// The same, appended without allocations of their own.
void AppendIntegerStatField(std::string& out, uint64_t id, int64_t value);
void AppendUnsignedStatField(std::string& out, uint64_t id, uint64_t value);

// Takes the events of one line.
class EventSink {
 public:
  explicit EventSink(std::function<Status(std::string_view)> write) : write_(std::move(write)) {}

  // `constant_stats`: encoded fields that equal events share; `stats`: what differs from one to the
  // next. They stand beside the times, so that a compressor finds one long match in each event.
  void Add(uint64_t metadata_id, Picoseconds offset, Picoseconds duration,
           std::string_view constant_stats, std::string_view stats);

 private:
  friend class XSpaceWriter;
  void Flush();

  std::function<Status(std::string_view)> write_;  // empty: measure alone
  std::string event_, buffer_;
  uint64_t size_ = 0;
  Status status_;
};

// What a plane holds besides its events. Ids count from 1 in order of first use: name what is
// frequent first.
class PlaneWriter {
 public:
  // `id`: XProf takes the number of a device from it.
  PlaneWriter(std::string name, int64_t id) : name_(std::move(name)), id_(id) {}

  // Id of the stat metadata of that name; also of a text that is a RefStat's value.
  uint64_t StatId(std::string_view name);
  // A new event metadata. `stats`: XStat messages.
  uint64_t AddEventMetadata(std::string_view name, std::string_view display_name,
                            const std::vector<std::string>& stats);
  void AddStat(std::string_view stat) { stats_.emplace_back(stat); }

  // `timestamp_ns`: origin of the events' offsets, from the start of the profile. `events` is
  // called twice and has to give the same events both times; ids that it needs exist before.
  void AddLine(int64_t id, std::string name, int64_t timestamp_ns,
               std::function<void(EventSink&)> events);

 private:
  friend class XSpaceWriter;
  struct Line {
    std::string head;
    std::function<void(EventSink&)> events;
  };
  std::string name_;
  int64_t id_;
  std::vector<Line> lines_;
  std::vector<std::string> event_metadata_;  // XEventMetadata messages, by id - 1
  std::vector<std::string> stat_names_;      // by id - 1
  std::unordered_map<std::string, uint64_t> stat_ids_;
  std::vector<std::string> stats_;
};

class XSpaceWriter {
 public:
  // `write` takes the bytes of the file in order.
  explicit XSpaceWriter(std::function<Status(std::string_view)> write) : write_(std::move(write)) {}

  Status Plane(const PlaneWriter& plane);
  Status Warning(std::string_view text);
  Status Hostname(std::string_view name);

 private:
  std::function<Status(std::string_view)> write_;
};

}  // namespace pgle
