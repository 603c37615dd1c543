#include "capture/convert/annotation.h"

#include <charconv>
#include <string>

namespace pgle {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The end of the "key=value" at the front of `text`: the first comma outside quotes and brackets.
size_t EndOfPair(std::string_view text) {
  std::string open;  // closing marks that are waited for
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_quoted) {
      is_quoted = c != open.back();
      if (!is_quoted) open.pop_back();
      continue;
    }
    if (c == ',' && open.empty()) return i;
    if (!open.empty() && c == open.back()) {
      open.pop_back();
    } else if (c == '"' || c == '\'') {
      open += c;
      is_quoted = true;
    } else if (c == '(') {
      open += ')';
    } else if (c == '[') {
      open += ']';
    } else if (c == '{') {
      open += '}';
    }
  }
  return text.size();
}

}  // namespace

std::string_view Annotation::Find(std::string_view key) const {
  for (const auto& [name, value] : metadata) {
    if (name == key) return value;
  }
  return {};
}

Annotation ParseAnnotation(std::string_view text) {
  text = Trim(text);
  Annotation annotation{text, {}};
  if (text.empty() || text.back() != '#') return annotation;
  const size_t start = text.find('#');
  if (start == text.size() - 1) return annotation;
  annotation.name = Trim(text.substr(0, start));
  std::string_view rest = text.substr(start + 1, text.size() - start - 2);
  while (!rest.empty()) {
    const size_t end = EndOfPair(rest);
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(end == rest.size() ? end : end + 1);
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    annotation.metadata.emplace_back(Trim(pair.substr(0, equals)), Trim(pair.substr(equals + 1)));
  }
  return annotation;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  const char* const end = text.data() + text.size();
  int64_t value = 0;
  auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return value;
  uint64_t unsigned_value = 0;  // some versions print ids without a sign
  parsed = std::from_chars(text.data(), end, unsigned_value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return static_cast<int64_t>(unsigned_value);
  return std::nullopt;
}

}  // namespace pgle
