#include "capture/recorder/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "capture/recorder/memory.h"

namespace pgle::recorder {
namespace {

constexpr size_t kSettingsBytes = offsetof(ControlPage, slots);

// File systems that cannot tell (NFS 3) write later, and say then that there is no room.
int TakeRoom(int fd, uint32_t index) {
  const auto offset = static_cast<off_t>(kSettingsBytes + index * sizeof(ProcessSlot));
  while (fallocate(fd, 0, offset, sizeof(ProcessSlot)) != 0) {
    if (errno == ENOSPC || errno == EDQUOT) return errno;
    if (errno != EINTR) return 0;
  }
  return 0;
}

}  // namespace

ControlPage* SharedPage::Map() {
  const char* const path = getenv(kControlVariable);
  if (path == nullptr || *path != '/') return nullptr;
  const int low = open(path, O_RDWR | O_CLOEXEC);
  if (low < 0) return nullptr;
  // Away from the low numbers that programs close and open again.
  const int high = fcntl(low, F_DUPFD_CLOEXEC, 512);
  if (high >= 0) close(low);
  const int fd = high >= 0 ? high : low;
  settings_ = static_cast<ControlPage*>(static_cast<void*>(Reserve<char>(kSettingsBytes)));
  struct stat status;
  void* page = MAP_FAILED;
  if (settings_ != nullptr && fstat(fd, &status) == 0 &&
      static_cast<size_t>(status.st_size) >= sizeof(ControlPage)) {
    page = mmap(nullptr, sizeof(ControlPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  // Read, not touched: the page's first bytes may lack their room as well.
  if (page == MAP_FAILED ||
      pread(fd, settings_, kSettingsBytes, 0) != static_cast<ssize_t>(kSettingsBytes) ||
      settings_->magic != kControlMagic || settings_->version != kControlVersion) {
    if (page != MAP_FAILED) munmap(page, sizeof(ControlPage));
    close(fd);
    return nullptr;
  }
  fd_ = fd;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  page_ = static_cast<ControlPage*>(page);
  return page_;
}

ProcessSlot* SharedPage::TakeSlot() {
  uint32_t index = page_->processes.load(std::memory_order_relaxed);
  do {
    if (index >= kMaxProcesses) {
      page_->processes.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    // Before the slot counts as taken: the launcher looks at it from then on.
    if (const int error = TakeRoom(fd_, index); error != 0) {
      page_->no_room.store(error, std::memory_order_relaxed);
      return nullptr;
    }
  } while (!page_->processes.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
  ProcessSlot* const slot = &page_->slots[index];
  slot->pid.store(static_cast<uint32_t>(getpid()), std::memory_order_relaxed);
  slot->state.store(ProcessState::kLoaded, std::memory_order_release);
  return slot;
}

bool SharedPage::IsThere() {
  if (is_lost_ || fd_ < 0) return !is_lost_;
  struct stat status;
  const bool is_answered = fstat(fd_, &status) == 0;
  // Without the descriptor nothing can be known.
  const bool is_closed =
      is_answered ? status.st_dev != device_ || status.st_ino != inode_ : errno == EBADF;
  if (is_closed) {
    fd_ = -1;
  } else if (!is_answered || static_cast<size_t>(status.st_size) < sizeof(ControlPage)) {
    Replace();
  }
  return !is_lost_;
}

// In one step, so that other threads see the one or the other.
void SharedPage::Replace() {
  if (mmap(page_, sizeof(ControlPage), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED) {
    return;
  }
  memcpy(static_cast<void*>(page_), settings_, kSettingsBytes);
  page_->launcher_alive.store(0, std::memory_order_relaxed);
  is_lost_ = true;
}

}  // namespace pgle::recorder
