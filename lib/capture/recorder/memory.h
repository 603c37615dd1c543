// Memory straight from the kernel: address space is reserved once, pages come when they are
// touched. The recorder allocates nothing else, and gives nothing back: callbacks may come as long
// as the process lives.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace pgle::recorder {

// Zeroed space for `count` objects; null when there is none.
template <typename T>
T* Reserve(size_t count) {
  void* space = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return space == MAP_FAILED ? nullptr : static_cast<T*>(space);
}

}  // namespace pgle::recorder
