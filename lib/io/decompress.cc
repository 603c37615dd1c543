#include "io/decompress.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace pgle {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

Status WriteAll(int fd, const char* data, size_t size, const std::string& name) {
  while (size > 0) {
    const ssize_t written = write(fd, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return Failed(name, fmt::format("cannot spool to a temporary file: {}", strerror(errno)),
                    "make room there, or name another directory in TMPDIR");
    }
    data += written;
    size -= static_cast<size_t>(written);
  }
  return {};
}

// Hands out the head first, then what is left in the descriptor. Returns 0 at the end.
class Source {
 public:
  Source(int fd, const std::string& head, const std::string& name)
      : fd_(fd), head_(head), name_(name) {}

  Result<size_t> Read(char* buffer, size_t size) {
    if (used_ < head_.size()) {
      const size_t n = std::min(size, head_.size() - used_);
      memcpy(buffer, head_.data() + used_, n);
      used_ += n;
      return n;
    }
    while (true) {
      const ssize_t n = read(fd_, buffer, size);
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) return Failed(name_, fmt::format("cannot read: {}", strerror(errno)));
    }
  }

 private:
  int fd_;
  const std::string& head_;
  const std::string& name_;
  size_t used_ = 0;
};

Error Truncated(const std::string& name, const char* format) {
  return Failed(name, fmt::format("the {} stream ends too early", format),
                "the file was cut while it was written or copied: copy it again");
}

Status CopyPlain(Source& source, int out, const std::string& name) {
  std::vector<char> buffer(kChunk);
  while (true) {
    PGLE_ASSIGN_OR_RETURN(const size_t n, source.Read(buffer.data(), buffer.size()));
    if (n == 0) return {};
    PGLE_RETURN_IF_ERROR(WriteAll(out, buffer.data(), n, name));
  }
}

Status UnpackZstd(Source& source, int out, const std::string& name) {
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                  ZSTD_freeDStream);
  std::vector<char> in_buffer(kChunk), out_buffer(kChunk);
  size_t pending = 0;  // what the decoder still expects; 0 between frames
  while (true) {
    PGLE_ASSIGN_OR_RETURN(const size_t n, source.Read(in_buffer.data(), in_buffer.size()));
    if (n == 0) break;
    ZSTD_inBuffer in{in_buffer.data(), n, 0};
    bool output_full = true;
    while (in.pos < in.size || output_full) {
      ZSTD_outBuffer unpacked{out_buffer.data(), out_buffer.size(), 0};
      pending = ZSTD_decompressStream(stream.get(), &unpacked, &in);
      if (ZSTD_isError(pending)) {
        return Failed(name, fmt::format("damaged zstd stream: {}", ZSTD_getErrorName(pending)),
                      "copy the file again");
      }
      PGLE_RETURN_IF_ERROR(WriteAll(out, out_buffer.data(), unpacked.pos, name));
      output_full = unpacked.pos == unpacked.size;
    }
  }
  if (pending != 0) return Truncated(name, "zstd");
  return {};
}

Status UnpackGzip(Source& source, int out, const std::string& name) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return Failed(name, "zlib cannot start");
  std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  std::vector<char> in_buffer(kChunk), out_buffer(kChunk);
  int state = Z_OK;
  while (true) {
    PGLE_ASSIGN_OR_RETURN(const size_t n, source.Read(in_buffer.data(), in_buffer.size()));
    if (n == 0) break;
    stream.next_in = reinterpret_cast<Bytef*>(in_buffer.data());
    stream.avail_in = static_cast<uInt>(n);
    bool output_full = true;
    while (stream.avail_in > 0 || output_full) {
      if (state == Z_STREAM_END) {  // another member follows
        if (stream.avail_in == 0) break;
        inflateReset(&stream);
      }
      stream.next_out = reinterpret_cast<Bytef*>(out_buffer.data());
      stream.avail_out = static_cast<uInt>(out_buffer.size());
      state = inflate(&stream, Z_NO_FLUSH);
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
        return Failed(name,
                      fmt::format("damaged gzip stream: {}", stream.msg ? stream.msg : "bad data"),
                      "copy the file again");
      }
      PGLE_RETURN_IF_ERROR(
          WriteAll(out, out_buffer.data(), out_buffer.size() - stream.avail_out, name));
      output_full = stream.avail_out == 0;
    }
  }
  if (state != Z_STREAM_END) return Truncated(name, "gzip");
  return {};
}

}  // namespace

Compression DetectCompression(const char* data, size_t size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(data);
  if (size >= 4 && bytes[0] == 0x28 && bytes[1] == 0xb5 && bytes[2] == 0x2f && bytes[3] == 0xfd) {
    return Compression::kZstd;
  }
  if (size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 0x08) {
    return Compression::kGzip;
  }
  return Compression::kNone;
}

Status UnpackTo(int in, const std::string& head, int out, const std::string& name) {
  Source source(in, head, name);
  switch (DetectCompression(head.data(), head.size())) {
    case Compression::kZstd:
      return UnpackZstd(source, out, name);
    case Compression::kGzip:
      return UnpackGzip(source, out, name);
    case Compression::kNone:
      break;
  }
  return CopyPlain(source, out, name);
}

}  // namespace pgle
