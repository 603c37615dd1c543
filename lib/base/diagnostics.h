// What a run has to say besides its result. lib/ collects, tools/ print: so the order is that of
// the inputs, whatever the number of threads.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace pgle {

struct Diagnostic {
  enum class Severity { kNote, kWarning };
  Severity severity;
  std::string where;  // file or module
  std::string what;
  std::string hint;  // next step; may be empty
};

class Diagnostics {
 public:
  void Warn(std::string where, std::string what, std::string hint = "") {
    items_.push_back(
        {Diagnostic::Severity::kWarning, std::move(where), std::move(what), std::move(hint)});
  }
  void Note(std::string where, std::string what, std::string hint = "") {
    items_.push_back(
        {Diagnostic::Severity::kNote, std::move(where), std::move(what), std::move(hint)});
  }
  void Append(Diagnostics other) {
    for (Diagnostic& item : other.items_) items_.push_back(std::move(item));
  }
  const std::vector<Diagnostic>& items() const { return items_; }

 private:
  std::vector<Diagnostic> items_;
};

}  // namespace pgle
