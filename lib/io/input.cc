#include "io/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "io/decompress.h"

namespace pgle {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int OpenSpool(const std::string& directory) {
#ifdef O_TMPFILE
  const int fd = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
#endif
  std::string path = directory + "/pgle-spool-XXXXXX";
  const int named = mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) unlink(path.c_str());
  return named;
}

Result<std::string> ReadHead(int fd, const std::string& name) {
  std::string head(8, '\0');
  size_t filled = 0;
  while (filled < head.size()) {
    const ssize_t n = read(fd, head.data() + filled, head.size() - filled);
    if (n < 0) {
      if (errno == EINTR) continue;
      return Failed(name, fmt::format("cannot read: {}", strerror(errno)));
    }
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  head.resize(filled);
  return head;
}

}  // namespace

Result<Input> Input::Open(const std::string& path, const std::string& spool_directory) {
  Input input;
  const bool is_stdin = path == "-";
  input.name_ = is_stdin ? "(stdin)" : path;
  const FileDescriptor source(is_stdin ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (source.get() < 0) {
    return Failed(input.name_, fmt::format("cannot open: {}", strerror(errno)),
                  "check the path and its permissions");
  }
  struct stat info {};
  if (fstat(source.get(), &info) != 0) {
    return Failed(input.name_, fmt::format("cannot stat: {}", strerror(errno)));
  }
  if (S_ISDIR(info.st_mode)) return Failed(input.name_, "is a directory, a file is needed here");

  PGLE_ASSIGN_OR_RETURN(const std::string head, ReadHead(source.get(), input.name_));
  const bool plain_file = S_ISREG(info.st_mode) &&
                          DetectCompression(head.data(), head.size()) == Compression::kNone &&
                          !is_stdin;
  const FileDescriptor spool(plain_file ? -1 : OpenSpool(spool_directory));
  if (!plain_file) {
    if (spool.get() < 0) {
      return Failed(spool_directory,
                    fmt::format("cannot make a temporary file: {}", strerror(errno)),
                    "name a writable directory in TMPDIR");
    }
    PGLE_RETURN_IF_ERROR(UnpackTo(source.get(), head, spool.get(), input.name_));
    if (fstat(spool.get(), &info) != 0) {
      return Failed(input.name_, fmt::format("cannot stat the spool: {}", strerror(errno)));
    }
  }
  input.size_ = static_cast<size_t>(info.st_size);
  if (input.size_ == 0) return input;
  void* mapped = mmap(nullptr, input.size_, PROT_READ, MAP_PRIVATE,
                      plain_file ? source.get() : spool.get(), 0);
  if (mapped == MAP_FAILED) {
    return Failed(input.name_, fmt::format("cannot map: {}", strerror(errno)));
  }
  input.data_ = static_cast<const char*>(mapped);
  return input;
}

Input::Input(Input&& other) noexcept {
  *this = std::move(other);
}

Input& Input::operator=(Input&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Input::~Input() {
  if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
}

void Input::Release(size_t begin, size_t end) const {
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t first = (begin + page - 1) / page * page;
  const size_t last = std::min(end, size_) / page * page;
  if (data_ != nullptr && last > first) {
    madvise(const_cast<char*>(data_) + first, last - first, MADV_DONTNEED);
  }
}

}  // namespace pgle
