#include "capture/environment.h"

#include <algorithm>
#include <charconv>

namespace pgle {
namespace {

bool IsOf(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

std::optional<std::string> Environment::Get(std::string_view name) const {
  for (const std::string& entry : entries_) {
    if (IsOf(entry, name)) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<std::string> Environment::NonEmpty(std::string_view name) const {
  std::optional<std::string> value = Get(name);
  if (value && value->empty()) value.reset();
  return value;
}

std::optional<uint32_t> Environment::Number(std::string_view name) const {
  const std::optional<std::string> value = NonEmpty(name);
  if (!value) return std::nullopt;
  uint32_t number = 0;
  const char* end = value->data() + value->size();
  const auto parsed = std::from_chars(value->data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

void Environment::Set(std::string_view name, std::string_view value) {
  std::erase_if(entries_, [&](const std::string& entry) { return IsOf(entry, name); });
  entries_.push_back(std::string(name) + "=" + std::string(value));
}

std::vector<char*> Environment::Pointers() {
  std::vector<char*> pointers;
  for (std::string& entry : entries_) pointers.push_back(entry.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace pgle
