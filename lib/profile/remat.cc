#include "profile/remat.h"

#include <algorithm>
#include <cctype>

namespace pgle {

std::string_view RematSuffix(std::string_view name) {
  const size_t at = name.rfind(".remat");
  if (at == std::string_view::npos) return {};
  const std::string_view digits = name.substr(at + 6);
  const bool all_digits =
      std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return isdigit(c) != 0; });
  return all_digits ? name.substr(at) : std::string_view();
}

}  // namespace pgle
