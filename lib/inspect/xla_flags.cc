#include "inspect/xla_flags.h"

#include <cctype>

#include "io/input.h"

namespace pgle {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool IsNameCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '-' || c == '_' || (byte < 0x80 && std::isalnum(byte) != 0);
}

size_t EndOr(size_t position, std::string_view text) {
  return position == text.npos ? text.size() : position;
}

XlaFlag SplitAtEquals(std::string_view token) {
  const size_t equals = token.find('=');
  if (equals == token.npos) return {std::string(token), std::nullopt};
  return {std::string(token.substr(0, equals)), std::string(token.substr(equals + 1))};
}

}  // namespace

const XlaFlag* XlaFlags::Find(std::string_view name) const {
  for (auto flag = flags.rbegin(); flag != flags.rend(); ++flag) {
    if (flag->name.size() == name.size() + 2 && flag->name.starts_with("--") &&
        std::string_view(flag->name).substr(2) == name) {
      return &*flag;
    }
  }
  return nullptr;
}

XlaFlags ParseXlaFlags(std::string_view text) {
  XlaFlags result;
  size_t begin = EndOr(text.find_first_not_of(kBlanks), text);
  while (begin < text.size() && text[begin] == '-') {
    size_t end = begin;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    if (end + 1 < text.size() && text[end] == '=' &&
        (text[end + 1] == '"' || text[end + 1] == '\'')) {
      const char quote = text[end + 1];
      XlaFlag flag{std::string(text.substr(begin, end - begin)), std::string()};
      for (end += 2; end < text.size() && text[end] != quote; ++end) {
        // A backslash is an escape within double quotes only.
        if (quote == '"' && text[end] == '\\' && end + 1 < text.size()) ++end;
        *flag.value += text[end];
      }
      result.unclosed_quote = end == text.size();
      if (end < text.size()) ++end;
      result.flags.push_back(std::move(flag));
    } else {
      end = EndOr(text.find_first_of(kBlanks, end), text);
      result.flags.push_back(SplitAtEquals(text.substr(begin, end - begin)));
    }
    begin = EndOr(text.find_first_not_of(kBlanks, end), text);
  }
  if (begin < text.size()) {
    std::string_view rest = text.substr(begin);
    rest = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
    result.dropped = rest;
    result.stopped_at = rest.substr(0, rest.find_first_of(kBlanks));
  }
  return result;
}

Result<XlaFlags> ReadXlaFlags(const std::string& value) {
  const size_t first = value.find_first_not_of(kBlanks);
  if (first == value.npos || value[first] == '-') return ParseXlaFlags(value);
  // XLA opens the value as it is, blanks included.
  const auto input = Input::Open(value);
  if (!input.ok()) {
    return Failed("XLA_FLAGS",
                  "does not start with '-', so XLA takes it for the name of a file, and ends the "
                  "process: " +
                      value + ": " + input.error().what,
                  "start the value with --xla_");
  }
  XlaFlags flags = ParseXlaFlags(input->bytes());
  flags.file = value;
  return flags;
}

}  // namespace pgle
