#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/sha256.h"
#include "samples/frame_reader.h"
#include "samples/sample_file.h"
#include "samples/sample_rules.h"
#include "samples/sample_wire.h"

namespace pgle {
namespace {

constexpr char kExtractAgain[] = "copy the file again, or write it again with pgle-extract";
constexpr size_t kMaxHeadBytes = 6;  // a tag, and the varint of a length up to kMaxMessageBytes

}  // namespace

struct SampleReader::State {
  // A field of SampleFile at the start of what is unpacked.
  struct Field {
    char tag = 0;
    size_t head = 0;  // bytes before the message
    size_t size = 0;  // of the message
  };

  explicit State(FrameReader input) : file(std::move(input)) {}

  Error Bad(std::string what) const { return Failed(file.name(), std::move(what), kExtractAgain); }

  Result<Field> NextField() {
    PGLE_ASSIGN_OR_RETURN(const bool any, file.Fill(1));
    if (!any) return Bad(fmt::format("was cut after record {}: no trailer", checker.records()));
    PGLE_RETURN_IF_ERROR(file.Fill(kMaxHeadBytes));  // what is left may be less, and enough
    const std::string_view bytes = file.bytes();
    Field field{bytes[0], 1, 0};
    uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      if (field.head == kMaxHeadBytes) return TooLong();
      if (field.head == bytes.size()) return CutInside();
      const auto byte = static_cast<unsigned char>(bytes[field.head++]);
      size |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (size > sample_wire::kMaxMessageBytes) return TooLong();
    field.size = size;
    return field;
  }

  Error TooLong() const {
    return Bad(fmt::format("damaged after record {}: a length over 1 GiB", checker.records()));
  }
  Error CutInside() const {
    return Bad(fmt::format("was cut inside a field, after record {}", checker.records()));
  }

  // The message of `field`, valid until Consume().
  Result<std::string_view> Unpack(const Field& field) {
    PGLE_ASSIGN_OR_RETURN(const bool whole, file.Fill(field.head + field.size));
    if (!whole) return CutInside();
    return file.bytes().substr(field.head, field.size);
  }

  void Consume(const Field& field) {
    hash.Update(file.bytes().substr(0, field.head + field.size));
    file.Consume(field.head + field.size);
  }

  Status ReadHeader();
  Result<bool> ReadRecord(SampleRecord* record);
  Status CheckTrailer(std::string_view message);

  FrameReader file;
  SampleHeader header;
  RecordChecker checker;
  Sha256 hash;
  std::optional<Result<bool>> last;  // the end or the error, once there was one
};

Status SampleReader::State::ReadHeader() {
  const Error foreign = Failed(file.name(), "is not a sample file, though a zstd stream",
                               "pgle-extract --samples writes sample files");
  PGLE_ASSIGN_OR_RETURN(const bool any, file.Fill(1));
  if (!any || file.bytes()[0] != sample_wire::kHeaderTag) return foreign;
  PGLE_ASSIGN_OR_RETURN(const Field field, NextField());
  PGLE_ASSIGN_OR_RETURN(const bool starts, file.Fill(field.head + 1));
  if (!starts || field.size == 0 || file.bytes()[field.head] != sample_wire::kVersionTag) {
    return foreign;  // without unpacking what may be a gigabyte of something else
  }
  PGLE_ASSIGN_OR_RETURN(const std::string_view message, Unpack(field));
  uint32_t version = 0;
  std::string fault = sample_wire::DecodeHeader(message, &version, &header);
  if (fault.empty() && version != sample_wire::kVersion) {
    return Failed(file.name(),
                  fmt::format("has version {} of the sample format; version {} is read here",
                              version, sample_wire::kVersion),
                  "update pgle tools, or write the file again with this version");
  }
  if (fault.empty()) fault = HeaderFault(header);
  if (!fault.empty()) return Bad("damaged header: " + fault);
  Consume(field);
  return {};
}

Result<bool> SampleReader::State::ReadRecord(SampleRecord* record) {
  PGLE_ASSIGN_OR_RETURN(const Field field, NextField());
  if (field.tag != sample_wire::kRecordTag && field.tag != sample_wire::kTrailerTag) {
    return Bad(fmt::format("damaged: an unknown field after record {}", checker.records()));
  }
  PGLE_ASSIGN_OR_RETURN(const std::string_view message, Unpack(field));
  if (field.tag == sample_wire::kTrailerTag) {
    PGLE_RETURN_IF_ERROR(CheckTrailer(message));
    file.Consume(field.head + field.size);
    PGLE_ASSIGN_OR_RETURN(const bool more_fields, file.Fill(1));
    PGLE_ASSIGN_OR_RETURN(const bool more_bytes, file.HasMore());
    if (!more_fields && !more_bytes) return false;
    return Failed(file.name(), "goes on after its trailer",
                  "sample files cannot be concatenated: give each to pgle-merge");
  }
  const std::string malformed = sample_wire::DecodeRecord(message, record);
  if (!malformed.empty()) {
    return Bad(fmt::format("damaged: record {}: {}", checker.records() + 1, malformed));
  }
  if (const std::string fault = checker.Fault(header, *record); !fault.empty()) {
    return Bad("damaged: " + fault);
  }
  Consume(field);
  return true;
}

Status SampleReader::State::CheckTrailer(std::string_view message) {
  sample_wire::Trailer trailer;
  const std::string malformed = sample_wire::DecodeTrailer(message, &trailer);
  if (!malformed.empty()) return Bad("damaged trailer: " + malformed);
  if (trailer.records != checker.records() || trailer.durations != checker.durations()) {
    return Bad(fmt::format("damaged: {} records with {} durations, but the trailer says {} and {}",
                           checker.records(), checker.durations(), trailer.records,
                           trailer.durations));
  }
  if (trailer.sha256 != hash.Finish()) return Bad("damaged: the checksum differs");
  return {};
}

SampleReader::SampleReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SampleReader::SampleReader(SampleReader&&) noexcept = default;
SampleReader::~SampleReader() = default;

Result<SampleReader> SampleReader::Open(const std::string& path) {
  PGLE_ASSIGN_OR_RETURN(FrameReader file, FrameReader::Open(path, "a sample file"));
  auto state = std::make_unique<State>(std::move(file));
  PGLE_RETURN_IF_ERROR(state->ReadHeader());
  return SampleReader(std::move(state));
}

const SampleHeader& SampleReader::header() const {
  return state_->header;
}
const std::string& SampleReader::path() const {
  return state_->file.name();
}

Result<bool> SampleReader::Next(SampleRecord* record) {
  if (state_->last.has_value()) return *state_->last;
  Result<bool> result = state_->ReadRecord(record);
  if (!result.ok() || !*result) state_->last = result;
  return result;
}

}  // namespace pgle
