#include "inspect/log_line.h"

#include <algorithm>
#include <cctype>

namespace pgle {
namespace {

constexpr size_t kMaxLabel = 96;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsSeverity(char c) {
  return c == 'I' || c == 'W' || c == 'E' || c == 'F';
}

// Takes the last blank-separated token off `text`.
std::string_view TakeLastToken(std::string_view* text) {
  size_t end = text->size();
  while (end > 0 && (*text)[end - 1] == ' ') --end;
  size_t begin = end;
  while (begin > 0 && (*text)[begin - 1] != ' ') --begin;
  const std::string_view token = text->substr(begin, end - begin);
  *text = text->substr(0, begin);
  return token;
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.size() <= 18 && std::all_of(text.begin(), text.end(), IsDigit);
}

// "2023-07-21"
bool IsDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  return AllDigits(text.substr(0, 4)) && AllDigits(text.substr(5, 2)) && AllDigits(text.substr(8));
}

// Reads the fields before "FILE:LINE]"; `head` ends before FILE.
bool ParseHead(std::string_view head, LogLine* line) {
  const std::string_view last = TakeLastToken(&head);
  if (last.size() == 1 && IsSeverity(last[0])) {  // TSL: DATE TIME: I FILE:LINE]
    const std::string_view time = TakeLastToken(&head);
    if (time.size() < 9 || time.back() != ':' || !IsDigit(time[0])) return false;
    const std::string_view date = TakeLastToken(&head);
    if (date.size() < 10 || !IsDate(date.substr(date.size() - 10))) return false;
    line->severity = last[0];
    line->before = {head.data(), static_cast<size_t>(date.data() - head.data()) + date.size() - 10};
    return true;
  }
  if (!AllDigits(last)) return false;  // absl: IMMDD TIME THREAD FILE:LINE]
  const std::string_view time = TakeLastToken(&head);
  if (time.size() < 8 || !IsDigit(time[0]) || time.find(':') == time.npos) return false;
  const std::string_view tag = TakeLastToken(&head);
  if (tag.size() < 5 || !IsSeverity(tag[tag.size() - 5]) ||
      !AllDigits(tag.substr(tag.size() - 4))) {
    return false;
  }
  line->severity = tag[tag.size() - 5];
  line->before = {head.data(), static_cast<size_t>(tag.data() - head.data()) + tag.size() - 5};
  line->thread = 0;
  for (const char c : last) line->thread = line->thread * 10 + (c - '0');
  return true;
}

// The common case, front to back: absl's prefix at the start of the line.
bool ParsePlainAbsl(std::string_view line, LogLine* result) {
  const char* p = line.data();
  const char* const end = p + line.size();
  if (line.size() < 24 || !IsSeverity(p[0]) || p[5] != ' ' || !IsDigit(p[6]) ||
      !(IsDigit(p[1]) && IsDigit(p[2]) && IsDigit(p[3]) && IsDigit(p[4]))) {
    return false;
  }
  for (p += 6; p < end && *p != ' '; ++p) {  // the time
    if (!IsDigit(*p) && *p != ':' && *p != '.') return false;
  }
  while (p < end && *p == ' ') ++p;
  int64_t thread = 0;
  const char* const digits = p;
  for (; p < end && IsDigit(*p); ++p) thread = thread * 10 + (*p - '0');
  if (p == digits || p - digits > 18 || p == end || *p != ' ') return false;
  const char* const file = ++p;
  while (p < end && *p != ' ' && *p != ':') ++p;
  if (p == file || p == end || *p != ':') return false;
  const char* const number = ++p;
  while (p < end && IsDigit(*p)) ++p;
  if (p == number || p + 1 >= end || p[0] != ']' || p[1] != ' ') return false;
  result->severity = line[0];
  result->thread = thread;
  result->before = line.substr(0, 0);
  result->message = line.substr(static_cast<size_t>(p + 2 - line.data()));
  return true;
}

bool LooksLikeTime(std::string_view token) {
  if (!token.empty() && token.front() == '[') token.remove_prefix(1);
  return token.size() >= 8 && IsDigit(token[0]) && IsDigit(token[1]) &&
         (IsDate(token.substr(0, 10)) || std::count(token.begin(), token.end(), ':') >= 2);
}

bool IsLabelCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_.,:-/[]<>()#@=|").find(c) != std::string_view::npos;
}

}  // namespace

LogLine ParseLogLine(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.find('\r') != line.npos) line.remove_prefix(line.rfind('\r') + 1);
  LogLine result;
  result.before = result.message = line;
  if (ParsePlainAbsl(line, &result)) return result;
  size_t bracket = 0;
  for (int tries = 0; tries < 4; ++tries) {
    bracket = line.find("] ", bracket);
    if (bracket == line.npos) break;
    size_t number = bracket;
    while (number > 0 && IsDigit(line[number - 1])) --number;
    if (number < bracket && number > 1 && line[number - 1] == ':') {
      size_t file = number - 1;
      while (file > 0 && line[file - 1] != ' ') --file;
      const std::string_view name = line.substr(file, number - 1 - file);
      if (file > 0 && name.find('.') != name.npos && ParseHead(line.substr(0, file), &result)) {
        result.message = line.substr(bracket + 2);
        return result;
      }
    }
    ++bracket;
  }
  return result;
}

std::string_view WithoutAnsi(std::string_view line, std::string* scratch) {
  size_t escape = line.find('\x1b');
  if (escape == line.npos) return line;
  scratch->clear();
  size_t from = 0;
  while (escape != line.npos) {
    scratch->append(line, from, escape - from);
    from = escape + 1;
    if (from < line.size() && line[from] == '[') {  // CSI: parameters, then one final byte
      ++from;
      while (from < line.size() && (line[from] < 0x40 || line[from] > 0x7e)) ++from;
      if (from < line.size()) ++from;
    } else if (from < line.size()) {
      ++from;
    }
    escape = line.find('\x1b', from);
  }
  if (from < line.size()) scratch->append(line, from);
  return *scratch;
}

std::string ProcessLabel(std::string_view before) {
  std::string label;
  size_t tokens = 0;
  for (size_t begin = 0; begin < before.size();) {
    const size_t end = std::min(before.find_first_of(" \t", begin), before.size());
    const std::string_view token = before.substr(begin, end - begin);
    begin = end + 1;
    if (token.empty() || LooksLikeTime(token)) continue;
    if (++tokens > 3 || label.size() + token.size() > kMaxLabel) return "";
    if (!std::all_of(token.begin(), token.end(), IsLabelCharacter)) return "";
    if (!label.empty()) label += ' ';
    label += token;
  }
  while (!label.empty() && (label.back() == ':' || label.back() == '|' || label.back() == ' ')) {
    label.pop_back();
  }
  return label;
}

}  // namespace pgle
