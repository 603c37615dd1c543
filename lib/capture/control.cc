#include "capture/control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <re2/re2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace pgle {

using recorder::ControlPage;
using recorder::kMaxModules;
using recorder::kMaxProcesses;

Control::Control() = default;

Control::Control(Control&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)),
      fd_(std::exchange(other.fd_, -1)),
      is_lost_(other.is_lost_),
      pattern_(std::move(other.pattern_)),
      answered_(std::move(other.answered_)) {}

Control::~Control() {
  if (page_ == nullptr) return;
  if (fd_ >= 0 && IsThere()) page_->launcher_alive = 0;
  munmap(page_, sizeof(ControlPage));
  if (fd_ >= 0) close(fd_);
}

Result<Control> Control::Create(const std::string& file, const std::string& directory,
                                const recorder::WindowSettings& window,
                                const std::string& module_pattern) {
  Control control;
  if (!module_pattern.empty()) {
    control.pattern_ = std::make_unique<re2::RE2>(module_pattern, re2::RE2::Quiet);
    if (!control.pattern_->ok()) {
      return UsageError("--module",
                        fmt::format("'{}': {}", module_pattern, control.pattern_->error()),
                        "RE2 syntax, like jit_train.*");
    }
  }
  // Sparse: what no process touches takes no room. What this one touches has to have it: a page
  // fault on a full disk would be a SIGBUS.
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void* map = MAP_FAILED;
  const std::string head(offsetof(ControlPage, slots), '\0');
  if (fd >= 0 && ftruncate(fd, sizeof(ControlPage)) == 0) {
    errno = ENOSPC;  // of a write that is cut short
    if (write(fd, head.data(), head.size()) == static_cast<ssize_t>(head.size())) {
      map = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
  }
  const int error = errno;
  if (map == MAP_FAILED) {
    if (fd >= 0) close(fd);
    return Failed(file, fmt::format("cannot be made and mapped: {}", strerror(error)),
                  "give a directory on another file system with -o");
  }
  control.page_ = static_cast<ControlPage*>(map);
  control.fd_ = fd;
  control.answered_ = std::make_unique<uint32_t[]>(kMaxProcesses);
  ControlPage& page = *control.page_;
  directory.copy(page.directory, sizeof page.directory - 1);
  page.window = window;
  page.window.has_module_filter = control.pattern_ != nullptr ? 1 : 0;
  page.launcher_alive = 1;
  page.version = recorder::kControlVersion;
  page.magic = recorder::kControlMagic;
  return control;
}

Result<Control> Control::Open(const std::string& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  void* map = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size == sizeof(ControlPage)) {
    map = mmap(nullptr, sizeof(ControlPage), PROT_READ, MAP_SHARED, fd, 0);
  }
  if (fd >= 0) close(fd);
  if (map == MAP_FAILED) return Failed(file, "is no control page of this pgle-capture");
  Control control;
  control.page_ = static_cast<ControlPage*>(map);
  if (control.page_->magic != recorder::kControlMagic ||
      control.page_->version != recorder::kControlVersion) {
    return Failed(file, "is no control page of this pgle-capture");
  }
  return control;
}

bool Control::Matches(const std::string& module) const {
  return pattern_ == nullptr || re2::RE2::PartialMatch(module, *pattern_);
}

void Control::AnswerModules(uint32_t index) {
  if (pattern_ == nullptr) return;
  recorder::ProcessSlot& slot = page_->slots[index];
  const uint32_t count = std::min(slot.module_count.load(), kMaxModules);
  for (uint32_t i = answered_[index]; i < count; ++i) {
    recorder::ModuleName& module = slot.modules[i];
    module.verdict = Matches(SlotText(module.text, sizeof module.text)) ? recorder::Verdict::kYes
                                                                        : recorder::Verdict::kNo;
  }
  answered_[index] = std::max(answered_[index], count);
}

bool Control::IsThere() {
  struct stat info = {};
  if (is_lost_ || fd_ < 0) return !is_lost_;
  if (fstat(fd_, &info) == 0 && info.st_size >= static_cast<off_t>(sizeof(ControlPage))) {
    return true;
  }
  is_lost_ = mmap(page_, sizeof(ControlPage), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  return false;
}

uint32_t Control::slots() const {
  return std::min(processes(), kMaxProcesses);
}

std::string SlotText(const char* text, size_t size) {
  return std::string(text, strnlen(text, size));
}

}  // namespace pgle
