// The control page as a recorder holds it. A mapped file may lose its room: a full disk, a file
// that is cut, a file system that goes away. Touching it would then end the program (SIGBUS), so
// room is taken first and the file is looked at before the page is.
#pragma once

#include <cstdint>

#include "capture/recorder/control_page.h"

namespace pgle::recorder {

class SharedPage {
 public:
  // Maps the page that kControlVariable names. Null when there is none of this version.
  ControlPage* Map();
  ControlPage* page() const { return page_; }

  // A slot of our own, for whose bytes the file has room. Null when there is no slot or no room
  // left; the page tells the launcher which.
  ProcessSlot* TakeSlot();

  // Of the control thread, before it looks at the page. False once the file is gone: memory with
  // the launcher's settings and an empty slot lies in its place from then on.
  bool IsThere();

 private:
  void Replace();

  ControlPage* page_ = nullptr;
  ControlPage* settings_ = nullptr;  // a copy, of what stands before the slots alone
  int fd_ = -1;
  uint64_t device_ = 0, inode_ = 0;  // the program may close descriptors that it does not know
  bool is_lost_ = false;
};

}  // namespace pgle::recorder
