#include "samples/frame_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pgle {
namespace {

constexpr size_t kPackedBytes = size_t{32} << 10;
constexpr size_t kUnpackedBytes = size_t{16} << 10;
// 8 MiB: files that someone packed again with up to `zstd -19` are read.
constexpr int kMaxWindowLog = 23;
constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
constexpr char kCopyAgain[] = "copy the file again, or write it again";

}  // namespace

FrameReader::FrameReader() : decoder_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
  ZSTD_DCtx_setParameter(decoder_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
}

FrameReader::FrameReader(FrameReader&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)),
      decoder_(std::move(other.decoder_)),
      packed_(std::move(other.packed_)),
      packed_begin_(other.packed_begin_),
      packed_end_(other.packed_end_),
      packed_total_(other.packed_total_),
      frame_ended_(other.frame_ended_),
      unpacked_(std::move(other.unpacked_)),
      begin_(other.begin_),
      end_(other.end_) {}

FrameReader::~FrameReader() {
  CloseFile();
}

void FrameReader::CloseFile() {
  if (fd_ > STDERR_FILENO) close(fd_);
  fd_ = -1;
}

Error FrameReader::Cut() const {
  return Failed(
      name_, fmt::format("was cut: the zstd stream ends too early, after {} bytes", packed_total_),
      kCopyAgain);
}

Result<FrameReader> FrameReader::Open(const std::string& path, const std::string& kind) {
  FrameReader reader;
  reader.name_ = path == "-" ? "(stdin)" : path;
  reader.fd_ = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (reader.fd_ < 0) {
    const bool too_many = errno == EMFILE || errno == ENFILE;
    return Failed(reader.name_, fmt::format("cannot open: {}", strerror(errno)),
                  too_many ? "raise the limit of open files (ulimit -n), or take fewer at a time"
                           : "check the path and its permissions");
  }
  PGLE_RETURN_IF_ERROR(reader.ReadPacked());
  const std::string_view head =
      std::string_view(reader.packed_).substr(0, std::min(reader.packed_end_, kMagic.size()));
  if (head.empty()) {
    return Failed(reader.name_, fmt::format("is empty, not {}", kind), kCopyAgain);
  }
  if (head != kMagic.substr(0, head.size())) {
    return Failed(reader.name_, fmt::format("is not {}: no zstd stream", kind),
                  "pgle-extract --samples writes such files");
  }
  if (head.size() < kMagic.size()) return reader.Cut();
  return reader;
}

// Fills the buffer wholly where it can, so that the file of a small frame is closed at once.
Status FrameReader::ReadPacked() {
  packed_.resize(kPackedBytes);
  packed_begin_ = packed_end_ = 0;
  while (fd_ >= 0 && packed_end_ < packed_.size()) {
    const ssize_t n = read(fd_, packed_.data() + packed_end_, packed_.size() - packed_end_);
    if (n < 0) {
      if (errno == EINTR) continue;
      return Failed(name_, fmt::format("cannot read: {}", strerror(errno)), "name a readable file");
    }
    if (n == 0) CloseFile();
    packed_end_ += static_cast<size_t>(n);
  }
  packed_total_ += packed_end_;
  return {};
}

Result<bool> FrameReader::Fill(size_t size) {
  if (size > unpacked_.size() - begin_ && begin_ > 0) {
    memmove(unpacked_.data(), unpacked_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < size) {
    if (frame_ended_) return false;
    if (packed_begin_ == packed_end_ && fd_ >= 0) PGLE_RETURN_IF_ERROR(ReadPacked());
    if (end_ == unpacked_.size()) {
      unpacked_.resize(std::max(kUnpackedBytes, std::min(size, 2 * unpacked_.size())));
    }
    ZSTD_inBuffer in{packed_.data(), packed_end_, packed_begin_};
    ZSTD_outBuffer out{unpacked_.data(), unpacked_.size(), end_};
    const size_t expected = ZSTD_decompressStream(decoder_.get(), &out, &in);
    if (ZSTD_isError(expected)) {
      if (ZSTD_getErrorCode(expected) == ZSTD_error_frameParameter_windowTooLarge) {
        return Failed(name_, "was packed with a window over 8 MiB",
                      "pack it again: zstd -dc --memory=2GB FILE | zstd -c > NEW");
      }
      return Failed(name_, fmt::format("damaged zstd stream: {}", ZSTD_getErrorName(expected)),
                    kCopyAgain);
    }
    const bool stuck = out.pos == end_ && in.pos == packed_begin_;
    end_ = out.pos;
    packed_begin_ = in.pos;
    frame_ended_ = expected == 0;
    if (frame_ended_) {
      decoder_.reset();
    } else if (stuck && packed_begin_ == packed_end_ && fd_ < 0) {
      return Cut();
    }
  }
  return true;
}

Result<bool> FrameReader::HasMore() {
  if (packed_begin_ == packed_end_ && fd_ >= 0) PGLE_RETURN_IF_ERROR(ReadPacked());
  return packed_begin_ < packed_end_;
}

}  // namespace pgle
