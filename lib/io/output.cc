#include "io/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace pgle {
namespace {

mode_t CurrentUmask() {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}

// Follows symbolic links, so that a link to the target stays one.
std::string ResolveLinks(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  free(resolved);
  return result;
}

std::string Escape(const std::string& name) {
  std::string escaped;
  for (char c : name) {
    if (c == ' ' || c == '#' || c == '\\') escaped += '\\';
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

}  // namespace

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  if (path == "-") {
    file.path_ = "(stdout)";
    file.fd_ = STDOUT_FILENO;
    return file;
  }
  file.path_ = ResolveLinks(path);
  struct stat info {};
  if (stat(file.path_.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return Failed(path, "is a directory", "name a file");
    if (!S_ISREG(info.st_mode)) {  // a device or a pipe cannot be replaced, only written to
      file.fd_ = open(file.path_.c_str(), O_WRONLY | O_CLOEXEC);
      if (file.fd_ < 0) return Failed(path, fmt::format("cannot write: {}", strerror(errno)));
      return file;
    }
  }
  const std::string directory = std::filesystem::path(file.path_).parent_path();
  // Without a name, so that nothing is left behind even when the process is killed.
  file.fd_ =
      open(directory.empty() ? "." : directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file.fd_ >= 0) {
    file.is_unnamed_ = true;
    return file;
  }
  file.temporary_ = file.path_ + ".tmpXXXXXX";
  file.fd_ = mkostemp(file.temporary_.data(), O_CLOEXEC);
  if (file.fd_ < 0) {
    file.temporary_.clear();
    return Failed(path, fmt::format("cannot write: {}", strerror(errno)),
                  "the directory must exist and be writable");
  }
  fchmod(file.fd_, 0666 & ~CurrentUmask());
  return file;
}

// Gives the unnamed file a temporary name beside the target.
bool AtomicFile::GiveName() {
  const std::string source = fmt::format("/proc/self/fd/{}", fd_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::filesystem::path directory = std::filesystem::path(path_).parent_path();
    temporary_ = directory / fmt::format(".pgle-{}-{}.tmp", getpid(), attempt);
    if (linkat(AT_FDCWD, source.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      return true;
    }
    if (errno != EEXIST) break;
  }
  temporary_.clear();
  return false;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      is_unnamed_(other.is_unnamed_),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ > STDERR_FILENO) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status AtomicFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return Failed(path_, fmt::format("cannot write: {}", strerror(errno)),
                    "nothing was left behind; make room and run again");
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status AtomicFile::Commit() {
  if (temporary_.empty() && !is_unnamed_) return {};
  if (fsync(fd_) != 0 || (is_unnamed_ && !GiveName()) ||
      rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Failed(path_, fmt::format("cannot finish the file: {}", strerror(errno)),
                  "nothing was left behind; make room and run again");
  }
  temporary_.clear();
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  PGLE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  PGLE_RETURN_IF_ERROR(file.Write(content));
  return file.Commit();
}

std::string FormatDepfile(const std::string& target,
                          const std::vector<std::string>& prerequisites) {
  std::string rule = Escape(target) + ":";
  for (const std::string& name : prerequisites) rule += " \\\n  " + Escape(name);
  return rule + "\n";
}

}  // namespace pgle
