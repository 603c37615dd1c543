// One cost out of many executions.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace pgle {

class Statistic {
 public:
  enum class Kind { kPercentile, kMean, kMin, kMax };

  static Statistic Median() { return Statistic(Kind::kPercentile, 50, "median"); }
  // "median", "mean", "min", "max", or "pNN" with NN from 0 to 100 (decimals allowed).
  static Result<Statistic> Parse(const std::string& text);

  // Microseconds. pP of n samples is the nearest rank: sorted index ceil(P/100*n)-1, so the median
  // of an even number of samples is the lower of the middle two. The mean is an integer sum in
  // picoseconds, divided once. `samples` must not be empty; it is reordered.
  double Of(std::vector<Picoseconds>& samples) const;

  const std::string& name() const { return name_; }

 private:
  Statistic(Kind kind, double percent, std::string name)
      : kind_(kind), percent_(percent), name_(std::move(name)) {}

  Kind kind_;
  double percent_;
  std::string name_;
};

// The nearest-rank index of percentile `percent` among `count` sorted samples.
size_t NearestRank(double percent, size_t count);

}  // namespace pgle
