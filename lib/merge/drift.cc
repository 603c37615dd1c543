#include "merge/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace pgle {
namespace {

using Fingerprints = std::vector<std::string>;

bool AllNested(const std::vector<DriftSide>& sides) {
  std::vector<const Fingerprints*> sets;
  for (const DriftSide& side : sides) sets.push_back(&side.fingerprints);
  std::sort(sets.begin(), sets.end(),
            [](const auto* a, const auto* b) { return a->size() < b->size(); });
  for (size_t i = 1; i < sets.size(); ++i) {
    if (!std::includes(sets[i]->begin(), sets[i]->end(), sets[i - 1]->begin(),
                       sets[i - 1]->end())) {
      return false;
    }
  }
  return true;
}

std::string Join(const std::vector<std::string>& parts, size_t shown) {
  std::string text;
  for (size_t i = 0; i < std::min(shown, parts.size()); ++i) {
    text += (i == 0 ? "" : ", ") + parts[i];
  }
  if (parts.size() > shown) text += fmt::format(" and {} more", parts.size() - shown);
  return text;
}

std::string FirstOnlyIn(const Fingerprints& a, const Fingerprints& b) {
  for (const std::string& fingerprint : a) {
    if (!std::binary_search(b.begin(), b.end(), fingerprint)) return fingerprint;
  }
  return "";
}

}  // namespace

DriftReport FindDrift(const std::vector<ModuleVersions>& versions) {
  DriftReport report;
  std::map<std::string, std::map<Fingerprints, std::vector<std::string>>> modules;
  std::set<std::string> checked, unchecked;
  for (const ModuleVersions& version : versions) {
    (version.fingerprints.empty() ? unchecked : checked).insert(version.process);
    if (!version.fingerprints.empty()) {
      modules[version.module][version.fingerprints].push_back(version.process);
    }
  }
  report.checked = checked.size();
  for (const std::string& process : unchecked) report.unchecked += 1 - checked.count(process);
  for (auto& [name, by_fingerprints] : modules) {
    if (by_fingerprints.size() < 2) continue;
    ModuleDrift& drift = report.modules.emplace_back();
    drift.module = name;
    for (auto& [fingerprints, processes] : by_fingerprints) {
      drift.sides.push_back({fingerprints, std::move(processes)});
    }
    std::stable_sort(drift.sides.begin(), drift.sides.end(), [](const auto& a, const auto& b) {
      return a.processes.size() > b.processes.size();
    });
    drift.is_nested = AllNested(drift.sides);
  }
  return report;
}

bool IsRefusable(const ModuleDrift& drift) {
  return !drift.module.empty() || !drift.is_nested;
}

std::string Describe(const ModuleDrift& drift, size_t shown) {
  std::string text;
  for (const DriftSide& side : drift.sides) {
    text += fmt::format("{}{} in {}", text.empty() ? "" : "; ", Join(side.fingerprints, 3),
                        Join(side.processes, shown));
  }
  return text;
}

std::pair<std::string, std::string> OddFingerprints(const ModuleDrift& drift) {
  const Fingerprints& a = drift.sides[0].fingerprints;
  const Fingerprints& b = drift.sides[1].fingerprints;
  return {FirstOnlyIn(a, b), FirstOnlyIn(b, a)};
}

}  // namespace pgle
