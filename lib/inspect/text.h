// Small change of the text reports.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace pgle {

inline constexpr size_t kListedNames = 10;

// "1 module", "2 modules".
inline std::string Count(uint64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// A share of 1 as "95.2 %"; what is below 100 % is never shown as 100 %.
inline std::string FormatPercent(double share) {
  const double percent = 100 * share;
  return fmt::format("{:.1f} %", percent < 100 && percent > 99.9 ? 99.9 : percent);
}

// 12345.6 us as "12.3 ms", with the unit that fits.
inline std::string FormatMicroseconds(double us) {
  if (us >= 1e6) return fmt::format("{:.2f} s", us / 1e6);
  if (us >= 1e3) return fmt::format("{:.1f} ms", us / 1e3);
  return fmt::format("{:.2f} us", us);
}

// One line an item, the first ten unless `all`, then how many there are beyond them.
template <typename Items, typename Format>
void AppendList(const Items& items, bool all, Format format, std::string* out) {
  size_t shown = 0;
  for (const auto& item : items) {
    if (!all && shown == kListedNames) break;
    *out += fmt::format("    {}\n", format(item));
    ++shown;
  }
  if (shown < items.size()) {
    *out += fmt::format("    and {} more; -v lists all, --json too\n", items.size() - shown);
  }
}

}  // namespace pgle
