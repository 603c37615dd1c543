#include "profile/statistic.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace pgle {

Result<Statistic> Statistic::Parse(const std::string& text) {
  if (text == "median") return Median();
  if (text == "mean") return Statistic(Kind::kMean, 0, text);
  if (text == "min") return Statistic(Kind::kMin, 0, text);
  if (text == "max") return Statistic(Kind::kMax, 0, text);
  if (text.size() > 1 && text[0] == 'p' && isdigit(static_cast<unsigned char>(text[1]))) {
    char* end = nullptr;
    const double percent = strtod(text.c_str() + 1, &end);
    if (*end == '\0' && percent >= 0 && percent <= 100) {
      return Statistic(Kind::kPercentile, percent, text);
    }
  }
  return UsageError("--stat", "'" + text + "' is no statistic",
                    "one of: median, mean, min, max, p0 to p100");
}

size_t NearestRank(double percent, size_t count) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(count));
  return rank < 1 ? 0 : std::min(static_cast<size_t>(rank), count) - 1;
}

double Statistic::Of(std::vector<Picoseconds>& samples) const {
  switch (kind_) {
    case Kind::kMin:
      return ToMicroseconds(*std::min_element(samples.begin(), samples.end()));
    case Kind::kMax:
      return ToMicroseconds(*std::max_element(samples.begin(), samples.end()));
    case Kind::kMean: {
      const Picoseconds sum = std::accumulate(samples.begin(), samples.end(), Picoseconds{0});
      return static_cast<double>(sum) / (1e6 * static_cast<double>(samples.size()));
    }
    case Kind::kPercentile:
      break;
  }
  const auto nth = samples.begin() + static_cast<ptrdiff_t>(NearestRank(percent_, samples.size()));
  std::nth_element(samples.begin(), nth, samples.end());
  return ToMicroseconds(*nth);
}

}  // namespace pgle
