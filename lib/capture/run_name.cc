#include "capture/run_name.h"

#include <fmt/format.h>

#include <climits>

namespace pgle {

std::string CleanName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte <= 0x20 || byte == 0x7f || c == '/' || c == ':' || c == '\\' ? '_' : c;
  }
  if (name.empty()) return "unknown";
  if (name.front() == '.') name.front() = '_';
  return name;
}

std::string TimeName(std::time_t time) {
  std::tm local = {};
  localtime_r(&time, &local);
  char text[32];
  const size_t size = strftime(text, sizeof text, "%Y_%m_%d_%H_%M_%S", &local);
  return std::string(text, size);
}

Result<std::string> ChooseRunName(const std::string& wanted, const Rank& rank, std::time_t now) {
  if (!wanted.empty()) {
    if (CleanName(wanted) != wanted) {
      return UsageError("--run", fmt::format("'{}' is no name of a directory", wanted),
                        "leave out blanks, '/', ':' and a '.' in front");
    }
    if (wanted.size() > NAME_MAX) {
      return UsageError("--run", "the name is too long", "give a shorter one");
    }
    return wanted;
  }
  if (!rank.is_one_of_several()) return TimeName(now);
  if (!rank.job.empty()) return CleanName(rank.job);
  return UsageError(rank.variable,
                    "there are several ranks, and nothing tells which job they belong to",
                    "give --run NAME, the same on all ranks");
}

std::string FileStem(const std::string& host, const Rank& rank) {
  const std::string name = CleanName(host);
  return rank.is_one_of_several() ? fmt::format("{}_r{}", name, *rank.rank) : name;
}

Result<std::string> ExpandPath(const std::string& option, const std::string& path,
                               const std::string& host, const Rank& rank, int pid) {
  std::string expanded;
  bool is_own = !rank.is_one_of_several();
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      expanded += path[i];
      continue;
    }
    const char letter = ++i < path.size() ? path[i] : '\0';
    if (letter == '%') {
      expanded += '%';
      continue;
    }
    if (letter == 'r' && rank.rank) {
      expanded += std::to_string(*rank.rank);
    } else if (letter == 'r') {
      expanded += '0';
    } else if (letter == 'h') {
      expanded += CleanName(host);
    } else if (letter == 'p') {
      expanded += std::to_string(pid);
    } else {
      return UsageError(option,
                        fmt::format("'{}' has a '%' before something else than r, h or p", path),
                        "%r is the rank, %h the host, %p the process id; write %% for '%'");
    }
    is_own = true;
  }
  if (!is_own) {
    return UsageError(option, fmt::format("all ranks would write {}", path),
                      "put %r in it, for the rank");
  }
  return expanded;
}

}  // namespace pgle
