// One input of bytes: a file, standard input ("-"), or either compressed with zstd or gzip (told by
// content, not by name). Plain files are mapped; everything else spools to an unlinked temporary
// file, so that readers may go back and forth in it, and is mapped from there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pgle {

class Input {
 public:
  // path: a file, or "-". spool_directory: where compressed or piped bytes are unpacked.
  // Errors: cannot open, is a directory, damaged or truncated compressed stream, no room to spool.
  static Result<Input> Open(const std::string& path, const std::string& spool_directory = "/tmp");

  Input(Input&& other) noexcept;
  Input& operator=(Input&& other) noexcept;
  ~Input();

  // All bytes, uncompressed; valid as long as the Input lives.
  std::string_view bytes() const { return {data_, size_}; }
  // As given by the caller; "(stdin)" for "-".
  const std::string& name() const { return name_; }

  // Says that the bytes [begin, end) are not needed soon: their pages leave this process's memory
  // (reading them again is correct, and costs a page fault).
  void Release(size_t begin, size_t end) const;

 private:
  Input() = default;
  std::string name_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace pgle
