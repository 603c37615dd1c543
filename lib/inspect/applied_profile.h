// The part of a profile that XLA applies to one module, looked up as XLA looks it up.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/cost_profile.h"

namespace pgle {

// XLA: gpu_hlo_schedule.cc, FilterWithFingerprint, and the map of ProfileGuidedLatencyEstimator:
// * a name without "::" applies to every module; any other is split at every "::" and applies when
//   it has two parts of which the first is the module's fingerprint;
// * the last entry of a name wins;
// * if a name that applies contains ".remat", every name loses a ".remat" or ".rematN" at its end,
//   and entries that are then equal are averaged, each with the same weight.
// Views into the profile, which must outlive it.
class AppliedProfile {
 public:
  AppliedProfile(const CostProfile& profile, std::string_view fingerprint);
  AppliedProfile(CostProfile&& profile, std::string_view fingerprint) = delete;  // names are views

  // In microseconds; null when the module gets no such entry.
  const double* Find(std::string_view name) const;
  // The fingerprint of another module under which the profile has the name; empty: none.
  std::string_view ForeignFingerprint(std::string_view name) const;
  // The cost under that fingerprint, in microseconds; 0 when there is none.
  double ForeignCost(std::string_view name) const;

  // Names that apply, each once, in order of first appearance.
  const std::vector<std::string_view>& names() const { return names_; }
  bool has_own_fingerprint() const { return own_entries_ > 0; }
  // Names under the fingerprints of other modules, in no order.
  std::vector<std::string_view> foreign_names() const;

 private:
  struct Foreign {
    std::string_view fingerprint;
    double cost_us;
  };
  void Average(const std::vector<std::pair<std::string_view, double>>& kept);

  std::unordered_map<std::string_view, double> costs_;
  std::unordered_map<std::string_view, Foreign> foreign_;
  std::vector<std::string_view> names_;
  uint64_t own_entries_ = 0;
};

}  // namespace pgle
