// The messages of proto/pgle_samples.proto, from and to bytes. Encoding is deterministic: fields in
// ascending order, defaults left out, numbers packed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "samples/sample_file.h"

namespace pgle::sample_wire {

inline constexpr uint32_t kVersion = 1;
// Of the header, or of one record: more is a damaged length, not data.
inline constexpr uint64_t kMaxMessageBytes = uint64_t{1} << 30;

// The tags of SampleFile's fields: length-delimited, one byte each.
inline constexpr char kHeaderTag = 1 << 3 | 2;
inline constexpr char kRecordTag = 2 << 3 | 2;
inline constexpr char kTrailerTag = 3 << 3 | 2;
// A header starts with the tag of its version, a varint.
inline constexpr char kVersionTag = 1 << 3 | 0;

struct Trailer {
  uint64_t records = 0;
  uint64_t durations = 0;
  std::string sha256;
};

// Each replaces `bytes`.
void EncodeHeader(const SampleHeader& header, std::string* bytes);
void EncodeRecord(const SampleRecord& record, std::string* bytes);
void EncodeTrailer(const Trailer& trailer, std::string* bytes);
// What goes before a message in the file.
std::string EncodeHead(char tag, uint64_t message_bytes);

// Each returns what is wrong with the bytes, empty when nothing is. Unknown fields are skipped.
// When the version is not kVersion, nothing else of the header is decoded.
std::string DecodeHeader(std::string_view bytes, uint32_t* version, SampleHeader* header);
// Keeps what `record` has allocated.
std::string DecodeRecord(std::string_view bytes, SampleRecord* record);
std::string DecodeTrailer(std::string_view bytes, Trailer* trailer);

}  // namespace pgle::sample_wire
