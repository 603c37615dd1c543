#include "capture/convert/spill_reader.h"

#include <fmt/format.h>
#include <string.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <type_traits>

namespace pgle {
namespace {

using recorder::ChunkHeader;
using recorder::ChunkType;

// Ids beyond this are damage: a table grows to the largest id, and the recorder's tables end there.
constexpr uint32_t kLargestId = 1u << 21;

// How often the whole file may be summed up in search of its next chunk.
constexpr uint64_t kSearches = 64;

struct Chunk {
  ChunkType type = {};
  std::string_view payload;
};

enum class Found { kChunk, kDamage, kIncomplete };

// The chunk at the front of `bytes`, if its header makes sense and its checksum holds.
Found ReadChunk(std::string_view bytes, Chunk* chunk) {
  if (bytes.size() < sizeof(ChunkHeader)) return Found::kIncomplete;
  ChunkHeader header;
  memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != recorder::kChunkMagic || header.size % 8 != 0) return Found::kDamage;
  if (header.size > bytes.size() - sizeof(header)) return Found::kIncomplete;
  chunk->type = static_cast<ChunkType>(header.type);
  chunk->payload = bytes.substr(sizeof(header), header.size);
  const uint64_t crc = crc32(0, reinterpret_cast<const Bytef*>(chunk->payload.data()), header.size);
  return crc == header.crc32 ? Found::kChunk : Found::kDamage;
}

// Where the next whole chunk begins, from `from` on; the size of `bytes` when there is none.
// `budget`: bytes that may still be summed up in the search. Each of the headers in a garbled file
// may claim all that follows.
size_t FindChunk(std::string_view bytes, size_t from, uint64_t* budget) {
  const uint32_t magic = recorder::kChunkMagic;
  const std::string_view mark(reinterpret_cast<const char*>(&magic), sizeof(magic));
  Chunk chunk;
  for (size_t at = bytes.find(mark, from); at != bytes.npos; at = bytes.find(mark, at + 1)) {
    chunk = {};
    if (ReadChunk(bytes.substr(at), &chunk) == Found::kChunk) return at;
    if (chunk.payload.size() > *budget) break;
    *budget -= chunk.payload.size();
  }
  return bytes.size();
}

class Builder {
 public:
  explicit Builder(SpillFile* file) : file_(*file) {}

  // False when a chunk's content makes no sense.
  bool Add(const Chunk& chunk) {
    const std::string_view payload = Aligned(chunk.payload);
    switch (chunk.type) {
      case ChunkType::kProcess:
        return Copy(payload, &file_.process);
      case ChunkType::kText:
        return AddFacts(payload);
      case ChunkType::kDevices:
        for (const recorder::DeviceInfo& device : Records<recorder::DeviceInfo>(payload)) {
          devices_[device.ordinal] = device;
        }
        return true;
      case ChunkType::kStrings:
        return AddTexts(payload, &file_.strings);
      case ChunkType::kKernelNames:
        return AddTexts(payload, &file_.kernel_names);
      case ChunkType::kRanges:
        return AddRanges(payload);
      case ChunkType::kEvents:
        return AddEvents(payload);
      case ChunkType::kKernels:
        file_.kernels.push_back(Records<recorder::KernelRecord>(payload));
        return true;
      case ChunkType::kCopies:
        file_.copies.push_back(Records<recorder::CopyRecord>(payload));
        return true;
      case ChunkType::kSets:
        file_.sets.push_back(Records<recorder::SetRecord>(payload));
        return true;
      case ChunkType::kClock:
        for (const recorder::ClockPair& pair : Records<recorder::ClockPair>(payload)) {
          file_.clocks.push_back(pair);
        }
        return true;
      case ChunkType::kCounters:
        return Copy(payload, &file_.counters);
      case ChunkType::kWindow:
        return AddWindow(payload);
      case ChunkType::kEnd: {
        recorder::EndMark mark;
        if (!Copy(payload, &mark)) return false;
        file_.has_end = true;
        file_.end_time = mark.time;
        return true;
      }
    }
    return true;  // a newer recorder's chunk, which says nothing that is known here
  }

  void Finish() {
    for (const auto& [ordinal, device] : devices_) file_.devices.push_back(device);
  }

 private:
  template <typename T>
  static bool Copy(std::string_view payload, T* value) {
    if (payload.size() < sizeof(T)) return false;
    memcpy(value, payload.data(), sizeof(T));
    return true;
  }

  // Chunks are multiples of 8 bytes, so only what follows a torn write lies askew.
  std::string_view Aligned(std::string_view payload) {
    if (reinterpret_cast<uintptr_t>(payload.data()) % 8 == 0) return payload;
    std::vector<uint64_t>& copy = file_.realigned.emplace_back(payload.size() / 8);
    if (!payload.empty()) memcpy(copy.data(), payload.data(), payload.size());
    return {reinterpret_cast<const char*>(copy.data()), payload.size()};
  }

  // A payload may end in padding, which is smaller than a record.
  template <typename T>
  static std::span<const T> Records(std::string_view payload) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const T*>(payload.data()), payload.size() / sizeof(T)};
  }

  bool AddFacts(std::string_view payload) {
    while (!payload.empty() && payload.front() != '\0') {
      const size_t key = payload.find('\0');
      if (key == payload.npos) return false;
      const size_t value = payload.find('\0', key + 1);
      if (value == payload.npos) return false;
      file_.facts.emplace_back(payload.substr(0, key), payload.substr(key + 1, value - key - 1));
      payload.remove_prefix(value + 1);
    }
    return true;
  }

  static bool AddTexts(std::string_view payload, TextTable* table) {
    recorder::StringEntry entry;
    while (Copy(payload, &entry) && entry.id != 0) {
      payload.remove_prefix(sizeof(entry));
      if (entry.size > payload.size() || entry.id > kLargestId) return false;
      table->Set(entry.id, payload.substr(0, entry.size));
      payload.remove_prefix(std::min<size_t>((size_t{entry.size} + 3) / 4 * 4, payload.size()));
    }
    return true;
  }

  bool AddRanges(std::string_view payload) {
    for (const recorder::RangeEntry& range : Records<recorder::RangeEntry>(payload)) {
      if (range.id > kLargestId) return false;
      if (range.id == 0) continue;
      if (file_.ranges.size() <= range.id) file_.ranges.resize(range.id + 1);
      file_.ranges[range.id] = range;
    }
    return true;
  }

  bool AddEvents(std::string_view payload) {
    recorder::EventsHeader header;
    if (!Copy(payload, &header)) return false;
    const auto [it, added] = threads_.try_emplace({header.thread, header.tid}, file_.tids.size());
    if (added) file_.tids.push_back(header.tid);
    file_.events.push_back(
        {it->second, Records<recorder::Event>(payload.substr(sizeof(recorder::EventsHeader)))});
    return true;
  }

  bool AddWindow(std::string_view payload) {
    SpillWindowChange& change = file_.window.emplace_back();
    if (!Copy(payload, &change.change)) {
      file_.window.pop_back();
      return false;
    }
    const std::string_view text = payload.substr(sizeof(recorder::WindowChange));
    change.reason = text.substr(0, text.find('\0'));
    return true;
  }

  SpillFile& file_;
  std::map<uint32_t, recorder::DeviceInfo> devices_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> threads_;
};

}  // namespace

void TextTable::Set(uint32_t id, std::string_view text) {
  if (texts_.size() <= id) texts_.resize(id + 1);
  texts_[id] = text;
}

std::string SpillFile::Fact(std::string_view key) const {
  for (const auto& [name, value] : facts) {
    if (name == key) return value;
  }
  return {};
}

Result<SpillFile> ReadSpill(const Input& input, Diagnostics* diagnostics) {
  const std::string_view bytes = input.bytes();
  SpillFile file;
  Builder builder(&file);
  Chunk chunk;
  if (ReadChunk(bytes, &chunk) != Found::kChunk || chunk.type != ChunkType::kProcess ||
      !builder.Add(chunk)) {
    return Failed(input.name(), "not a recording: its first chunk is missing or damaged",
                  "give a spill file that pgle-capture's recorder wrote");
  }
  if (file.process.version != recorder::kSpillVersion) {
    return Failed(input.name(),
                  fmt::format("a recording of version {}, and version {} is known here",
                              file.process.version, recorder::kSpillVersion),
                  "convert it with the pgle-capture that recorded it");
  }
  size_t at = sizeof(ChunkHeader) + chunk.payload.size();
  uint64_t skipped = 0;
  uint64_t budget = kSearches * bytes.size();
  while (at < bytes.size()) {
    const Found found = ReadChunk(bytes.substr(at), &chunk);
    if (found == Found::kChunk) {
      if (!builder.Add(chunk)) ++file.damaged_chunks;
      at += sizeof(ChunkHeader) + chunk.payload.size();
      continue;
    }
    const size_t next = FindChunk(bytes, at + 1, &budget);
    if (next == bytes.size() && found == Found::kIncomplete) {
      file.is_cut = true;
      break;
    }
    ++file.damaged_chunks;
    skipped += next - at;
    at = next;
  }
  builder.Finish();
  if (file.damaged_chunks > 0) {
    diagnostics->Warn(input.name(),
                      fmt::format("the recording is damaged in {} places: {} bytes passed over",
                                  file.damaged_chunks, skipped),
                      "what they held is missing from the run; check the disk and record again");
  }
  if (file.is_cut) {
    diagnostics->Note(input.name(),
                      "ends in the middle of a chunk: the process was killed while it wrote");
  }
  return file;
}

}  // namespace pgle
