// A file of one zstd frame, unpacked little by little. Small, because pgle-merge has thousands.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct ZSTD_DCtx_s;

namespace pgle {

class FrameReader {
 public:
  // path: a file, or "-". Reads the start of it.
  // Errors: cannot open or read; empty, or no zstd frame (`kind` says what was expected).
  static Result<FrameReader> Open(const std::string& path, const std::string& kind);
  FrameReader(FrameReader&& other) noexcept;
  FrameReader& operator=(FrameReader&&) = delete;
  ~FrameReader();

  // Unpacks until `size` bytes are at hand; false when the frame ends (as it should) before that.
  // Memory grows with the bytes that are there, not with `size`.
  // Errors: cut, damaged, cannot read.
  Result<bool> Fill(size_t size);
  std::string_view bytes() const { return {unpacked_.data() + begin_, end_ - begin_}; }
  void Consume(size_t size) { begin_ += size; }

  // Once Fill() was false: whether the file goes on behind the frame.
  Result<bool> HasMore();

  // As given by the caller; "(stdin)" for "-".
  const std::string& name() const { return name_; }

 private:
  FrameReader();
  Status ReadPacked();
  void CloseFile();
  Error Cut() const;

  std::string name_;
  int fd_ = -1;  // closed as soon as the file was read to its end
  std::unique_ptr<ZSTD_DCtx_s, size_t (*)(ZSTD_DCtx_s*)> decoder_;
  std::string packed_;
  size_t packed_begin_ = 0;
  size_t packed_end_ = 0;
  uint64_t packed_total_ = 0;
  bool frame_ended_ = false;
  std::string unpacked_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace pgle
