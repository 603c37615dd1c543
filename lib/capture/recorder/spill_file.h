// Writes the spill file, chunk by chunk. Of the control thread alone.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "capture/recorder/spill_format.h"

namespace pgle::recorder {

class SpillFile {
 public:
  // Makes the file, which must not exist. Returns errno, or 0.
  int Create(const char* path);
  bool is_open() const { return fd_ >= 0; }

  // Starts a chunk, appends to its payload, and writes it. Payload beyond kMaxPayload must not be
  // appended: see Fits().
  void Begin(ChunkType type);
  bool Fits(size_t bytes) const { return size_ + bytes <= kMaxPayload; }
  void Append(const void* bytes, size_t size);
  // Appends zeros up to a multiple of `alignment` in the payload.
  void Pad(size_t alignment);
  // Returns errno, or 0. After an error the file is cut back to its last whole chunk and closed.
  int Write();
  int WriteChunk(ChunkType type, const void* payload, size_t size);

 private:
  static constexpr size_t kMaxPayload = size_t{1} << 20;

  bool IsStillOurs() const;

  int fd_ = -1;
  uint64_t device_ = 0, inode_ = 0;  // the program may close descriptors that it does not know
  off_t written_ = 0;
  ChunkType type_ = ChunkType::kText;
  size_t size_ = 0;
  char* buffer_ = nullptr;  // the header, then the payload
};

}  // namespace pgle::recorder
