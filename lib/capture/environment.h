// An environment as a value: the launcher's own comes in from tools/, the command's is made of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pgle {

class Environment {
 public:
  Environment() = default;
  // "NAME=value" each, in the order of environ.
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}

  std::optional<std::string> Get(std::string_view name) const;
  // The value, where it is not empty: most programs take an empty variable for none.
  std::optional<std::string> NonEmpty(std::string_view name) const;
  // The value as a number; none when it is absent or no number.
  std::optional<uint32_t> Number(std::string_view name) const;
  void Set(std::string_view name, std::string_view value);
  // For execve: ends with a null pointer, and is valid as long as nothing is set.
  std::vector<char*> Pointers();

 private:
  std::vector<std::string> entries_;
};

}  // namespace pgle
