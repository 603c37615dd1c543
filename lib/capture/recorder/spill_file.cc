#include "capture/recorder/spill_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "capture/recorder/crc32.h"
#include "capture/recorder/memory.h"

namespace pgle::recorder {

int SpillFile::Create(const char* path) {
  if (buffer_ == nullptr) {
    buffer_ = Reserve<char>(sizeof(ChunkHeader) + kMaxPayload + 64);
    if (buffer_ == nullptr) return ENOMEM;
  }
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return errno;
  // Away from the low numbers that programs close and open again.
  const int high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
  if (high >= 0) close(fd);
  fd_ = high >= 0 ? high : fd;
  struct stat status;
  if (fstat(fd_, &status) != 0) return errno;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  written_ = 0;
  return 0;
}

bool SpillFile::IsStillOurs() const {
  struct stat status;
  return fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void SpillFile::Begin(ChunkType type) {
  type_ = type;
  size_ = 0;
}

void SpillFile::Append(const void* bytes, size_t size) {
  memcpy(buffer_ + sizeof(ChunkHeader) + size_, bytes, size);
  size_ += size;
}

void SpillFile::Pad(size_t alignment) {
  while (size_ % alignment != 0) buffer_[sizeof(ChunkHeader) + size_++] = 0;
}

int SpillFile::Write() {
  Pad(8);
  ChunkHeader header;
  header.type = static_cast<uint16_t>(type_);
  header.size = static_cast<uint32_t>(size_);
  header.crc32 = Crc32(buffer_ + sizeof(ChunkHeader), size_);
  memcpy(buffer_, &header, sizeof(header));
  if (!IsStillOurs()) {
    fd_ = -1;
    return EBADF;
  }
  const size_t total = sizeof(header) + size_;
  for (size_t done = 0; done < total;) {
    const ssize_t count = write(fd_, buffer_ + done, total - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int error = count == 0 ? ENOSPC : errno;
      if (ftruncate(fd_, written_) != 0) {
        // The reader stops at the incomplete chunk just as well.
      }
      close(fd_);
      fd_ = -1;
      return error;
    }
    done += static_cast<size_t>(count);
  }
  written_ += static_cast<off_t>(total);
  return 0;
}

int SpillFile::WriteChunk(ChunkType type, const void* payload, size_t size) {
  Begin(type);
  Append(payload, size);
  return Write();
}

}  // namespace pgle::recorder
