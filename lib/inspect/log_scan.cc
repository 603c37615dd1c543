#include "inspect/log_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "inspect/log_anchors.h"
#include "inspect/log_line.h"
#include "inspect/log_message.h"
#include "inspect/log_state.h"
#include "io/input.h"

namespace pgle {
namespace {

constexpr size_t kHead = size_t{64} << 10;  // looked at to tell text from binary
constexpr size_t kWindow = size_t{4} << 20;

// Bytes that text has no use for: a log may hold escapes, tabs and UTF-8, hardly ever these.
Status CheckIsText(std::string_view head, const std::string& name) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) {
    return Failed(name, "is UTF-16 text", "convert it to UTF-8: iconv -f UTF-16 -t UTF-8");
  }
  for (size_t i = 0; i < head.size(); ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != 0x1b && c != '\b' && c != '\f' &&
        c != '\v' && c != '\a') {
      return Failed(name, fmt::format("is no log: byte {:#04x} at offset {} is not text", c, i),
                    "name the file that holds the program's standard error");
    }
  }
  return {};
}

// Lines are taken from `text` in windows, so that what is behind can be released even where no line
// matters for long.
template <typename Release>
void Scan(std::string_view text, LogState* state, const Release& release) {
  std::string scratch;
  size_t position = 0, released = 0;
  while (position < text.size()) {
    // A window ends with a line, unless the line is longer than a window.
    size_t window = text.size();
    if (window - position > kWindow) {
      window = position + kWindow;
      const void* newline = memrchr(text.data() + position, '\n', window - position);
      if (newline != nullptr) {
        window = static_cast<size_t>(static_cast<const char*>(newline) - text.data()) + 1;
      } else {
        window = std::min(text.find('\n', window), text.size() - 1) + 1;
      }
    }
    const std::string_view part = text.substr(0, window);
    while (true) {
      const size_t anchor = FindAnchor(part, position);
      if (anchor == part.npos) break;
      const void* newline = memrchr(part.data() + position, '\n', anchor - position);
      const size_t begin =
          newline == nullptr
              ? position
              : static_cast<size_t>(static_cast<const char*>(newline) - text.data()) + 1;
      const size_t end = std::min(part.find('\n', anchor), part.size());
      const LogLine line = ParseLogLine(WithoutAnsi(part.substr(begin, end - begin), &scratch));
      const LogMessage message = ReadLogMessage(line);
      if (message.kind != LogMessageKind::kOther) state->Add(line, message);
      position = end;
    }
    position = window;
    release(released, position);
    released = position;
  }
  state->Finish();
}

}  // namespace

Status ScanLogText(std::string_view text, const std::string& name, const ModuleFilter& is_users,
                   LogReport* report) {
  PGLE_RETURN_IF_ERROR(CheckIsText(text.substr(0, kHead), name));
  LogState state(name, is_users, report);
  Scan(text, &state, [](size_t, size_t) {});
  report->files.push_back({name, text.size()});
  return {};
}

Result<LogReport> ScanLogs(const std::vector<std::string>& paths, const ModuleFilter& is_users,
                           const std::string& spool_directory) {
  LogReport report;
  for (const std::string& path : paths) {
    PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, spool_directory));
    PGLE_RETURN_IF_ERROR(CheckIsText(input.bytes().substr(0, kHead), input.name()));
    LogState state(input.name(), is_users, &report);
    Scan(input.bytes(), &state, [&](size_t begin, size_t end) { input.Release(begin, end); });
    report.files.push_back({input.name(), input.bytes().size()});
  }
  return report;
}

}  // namespace pgle
