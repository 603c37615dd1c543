// The launcher's end of the control page (recorder/control_page.h).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "capture/recorder/control_page.h"

namespace re2 {
class RE2;
}

namespace pgle {

class Control {
 public:
  // Makes the file and fills in the settings. `module_pattern`: RE2, anywhere in the name; empty:
  // the recorder chooses the module.
  // Errors: the file cannot be made or mapped, no valid pattern.
  static Result<Control> Create(const std::string& file, const std::string& directory,
                                const recorder::WindowSettings& window,
                                const std::string& module_pattern);
  // Maps an existing page, for reading. Errors: there is none, or of another version.
  static Result<Control> Open(const std::string& file);

  Control(Control&& other) noexcept;
  Control& operator=(Control&&) = delete;
  ~Control();  // says that the launcher is gone

  // Answers the names of modules that a slot's recorder has published since the last call.
  void AnswerModules(uint32_t slot);
  // Whether a module is one of those that steps are counted of, or that are reported.
  bool Matches(const std::string& module) const;
  void Command(recorder::Command command) { page_->command = command; }

  // Before looks at the page: false once its file was cut or is out of reach, when a look would end
  // this process (SIGBUS). A page without slots lies in its place from then on.
  bool IsThere();

  uint32_t slots() const;  // taken and in reach
  uint32_t processes() const { return page_->processes; }
  const recorder::ProcessSlot& slot(uint32_t index) const { return page_->slots[index]; }
  const recorder::ControlPage& page() const { return *page_; }

 private:
  Control();

  recorder::ControlPage* page_ = nullptr;
  int fd_ = -1;  // of the owner
  bool is_lost_ = false;
  std::unique_ptr<re2::RE2> pattern_;
  std::unique_ptr<uint32_t[]> answered_;
};

// A text of the page, which another process writes: cut at its end, whatever is in it.
std::string SlotText(const char* text, size_t size);

}  // namespace pgle
