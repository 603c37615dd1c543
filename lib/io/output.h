// Whole files or none: content goes to a temporary file beside the target, is synced, and takes the
// target's name in one step. A profile cut at an entry boundary parses as a shorter, valid one, so
// nothing less will do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pgle {

// Writes `content` to `path`; "-" is standard output.
// Errors: the directory is missing or not writable, the disk is full.
Status WriteFileAtomically(const std::string& path, std::string_view content);

// A temporary file beside its target, for content that is streamed. Without Commit() it vanishes.
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  Status Write(std::string_view bytes);
  Status Commit();  // sync, then rename over the target

 private:
  AtomicFile() = default;
  bool GiveName();

  std::string path_;
  std::string temporary_;    // empty while the file has no name, and for what is no file
  bool is_unnamed_ = false;  // opened with O_TMPFILE
  int fd_ = -1;
};

// A Makefile rule "target: prerequisites", names escaped as make and ninja read them.
std::string FormatDepfile(const std::string& target, const std::vector<std::string>& prerequisites);

}  // namespace pgle
