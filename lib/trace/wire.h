// Protobuf's wire format, read in place. XSpace files are read with this rather than with protozero
// for two reasons: a fault names its offset in the file, and lengths beyond 4 GiB are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pgle::wire {

enum Type : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Reads a varint of at most ten bytes and moves `p` behind it; false when it runs past `end`.
inline bool ReadVarint(const char*& p, const char* end, uint64_t& value) {
  if (p < end && static_cast<unsigned char>(*p) < 0x80) [[likely]] {
    value = static_cast<unsigned char>(*p++);
    return true;
  }
  uint64_t result = 0;
  const char* q = p;
  for (int shift = 0; shift < 70 && q < end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*q++);
    result |= static_cast<uint64_t>(byte & 0x7f) << (shift < 64 ? shift : 63);
    if (byte < 0x80) {
      p = q;
      value = result;
      return true;
    }
  }
  return false;
}

// Moves `p` behind a field's value; false when it runs past `end` or the type does not exist.
inline bool Skip(const char*& p, const char* end, uint32_t type) {
  uint64_t value;
  switch (type) {
    case kVarint:
      return ReadVarint(p, end, value);
    case kFixed64:
      if (end - p < 8) return false;
      p += 8;
      return true;
    case kBytes:
      if (!ReadVarint(p, end, value) || value > static_cast<uint64_t>(end - p)) return false;
      p += value;
      return true;
    case kFixed32:
      if (end - p < 4) return false;
      p += 4;
      return true;
    default:
      return false;
  }
}

// Walks the fields of one message.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : p_(message.data()), end_(message.data() + message.size()) {}

  // Goes to the next field; false at the end or at a fault (see ok()).
  bool Next() {
    if (!ok_ || p_ == end_) return false;
    uint64_t tag;
    if (!ReadVarint(p_, end_, tag) || (tag >> 3) == 0) return Fault();
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<uint32_t>(tag & 7);
    switch (type_) {
      case kVarint:
        if (!ReadVarint(p_, end_, integer_)) return Fault();
        return true;
      case kBytes: {
        uint64_t size;
        const char* const start = p_;
        if (!ReadVarint(p_, end_, size) || size > static_cast<uint64_t>(end_ - p_)) {
          p_ = start;
          return Fault();
        }
        bytes_ = {p_, static_cast<size_t>(size)};
        p_ += size;
        return true;
      }
      case kFixed64:
        if (end_ - p_ < 8) return Fault();
        memcpy(&integer_, p_, 8);
        p_ += 8;
        return true;
      default:
        return Skip(p_, end_, type_) || Fault();
    }
  }

  uint32_t field() const { return field_; }
  bool is_bytes(uint32_t field) const { return field_ == field && type_ == kBytes; }
  bool is_varint(uint32_t field) const { return field_ == field && type_ == kVarint; }
  bool is_fixed64(uint32_t field) const { return field_ == field && type_ == kFixed64; }
  std::string_view bytes() const { return bytes_; }
  uint64_t integer() const { return integer_; }
  double real() const {
    double value;
    memcpy(&value, &integer_, 8);
    return value;
  }

  bool ok() const { return ok_; }
  // Where the walk stands: at the fault when !ok().
  const char* position() const { return p_; }

 private:
  bool Fault() {
    ok_ = false;
    return false;
  }

  const char* p_;
  const char* end_;
  bool ok_ = true;
  uint32_t field_ = 0;
  uint32_t type_ = 0;
  uint64_t integer_ = 0;
  std::string_view bytes_;
};

}  // namespace pgle::wire
