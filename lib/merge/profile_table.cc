#include "merge/profile_table.h"

#include <algorithm>
#include <tuple>

#include "hlo/opcodes.h"
#include "profile/remat.h"

namespace pgle {
namespace {

// Duplicates whose average is worked out; a file with more has other troubles.
constexpr size_t kAverages = 50;

std::string_view Stripped(std::string_view name) {
  name.remove_suffix(RematSuffix(name).size());
  return name;
}

// The average that XLA makes of `key` when the module has its fingerprint (for a bare key: none).
double AverageLikeXla(const CostProfile& profile, std::string_view key) {
  std::string_view fingerprint, name = key;
  SplitKey(key, &fingerprint, &name);
  double sum = 0;
  size_t count = 0;
  for (const InstructionCost& cost : profile.costs) {
    std::string_view its_fingerprint, its_name = cost.name;
    if (SplitKey(cost.name, &its_fingerprint, &its_name) ? its_fingerprint != fingerprint
                                                         : its_name.find("::") != its_name.npos) {
      continue;
    }
    if (Stripped(its_name) != Stripped(name)) continue;
    sum += cost.cost_us;
    ++count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

double JaxlibPercentile(std::vector<double>& costs, double percentile) {
  const auto index =
      static_cast<ptrdiff_t>(percentile / 100.0 * static_cast<double>(costs.size() - 1));
  std::nth_element(costs.begin(), costs.begin() + index, costs.end());
  return costs[static_cast<size_t>(index)];
}

bool SplitKey(std::string_view key, std::string_view* fingerprint, std::string_view* name) {
  const size_t at = key.find("::");
  if (at == std::string_view::npos || key.find("::", at + 2) != std::string_view::npos)
    return false;
  if (at == 0 || at + 2 == key.size()) return false;
  *fingerprint = key.substr(0, at);
  *name = key.substr(at + 2);
  return true;
}

bool IsCollectiveName(std::string_view key) {
  std::string_view fingerprint, name = key;
  SplitKey(key, &fingerprint, &name);
  std::string_view opcode = name.substr(0, name.find('.'));
  if (opcode.ends_with("-start")) opcode.remove_suffix(6);
  return IsCollective(opcode);
}

uint32_t ProfileTable::Intern(std::string_view key) {
  if (const auto it = by_key_.find(key); it != by_key_.end()) return it->second;
  const auto index = static_cast<uint32_t>(names_.size());
  const std::string_view stored = strings_.emplace_back(key);
  by_key_.emplace(stored, index);
  names_.emplace_back().key = stored;
  marks_.emplace_back();
  std::string_view fingerprint, bare;
  if (SplitKey(stored, &fingerprint, &bare)) {
    const uint32_t fingerprint_index = InternFingerprint(fingerprint);
    const uint32_t bare_index = Intern(bare);
    marks_[index].fingerprint = fingerprint_index;
    marks_[index].bare = bare_index;
  }
  return index;
}

uint32_t ProfileTable::InternFingerprint(std::string_view fingerprint) {
  if (const auto it = by_fingerprint_.find(fingerprint); it != by_fingerprint_.end()) {
    return it->second;
  }
  const auto index = static_cast<uint32_t>(fingerprints_.size());
  by_fingerprint_.emplace(fingerprints_.emplace_back(fingerprint), index);
  return index;
}

void ProfileTable::AddOrigin(Name* name, uint32_t fingerprint) {
  auto& origins = name->origins;
  if (std::find(origins.begin(), origins.end(), fingerprint) == origins.end()) {
    origins.push_back(fingerprint);
  }
}

ProfileFacts ProfileTable::Add(uint32_t input, const CostProfile& profile) {
  ProfileFacts facts;
  facts.entries = profile.costs.size();
  std::vector<uint32_t> indices, fingerprints, duplicates;
  indices.reserve(profile.costs.size());
  for (const InstructionCost& cost : profile.costs) {
    // Profiles of one program mostly hold the same names in the same order.
    const size_t place = indices.size();
    const bool as_before = place < previous_.size() && names_[previous_[place]].key == cost.name;
    const uint32_t index = as_before ? previous_[place] : Intern(cost.name);
    indices.push_back(index);
    Name& name = names_[index];
    Mark& mark = marks_[index];
    name.costs.push_back(cost.cost_us);
    if (mark.seen_in != input) {
      mark.seen_in = input;
      mark.count = 0;
      ++name.inputs;
    }
    mark.last_us = cost.cost_us;
    if (++mark.count == 2) duplicates.push_back(index);
    if (name.min_input == kNone || cost.cost_us < name.min_us) {
      name.min_us = cost.cost_us;
      name.min_input = input;
    }
    if (name.max_input == kNone || cost.cost_us > name.max_us) {
      name.max_us = cost.cost_us;
      name.max_input = input;
    }
    facts.averages |= cost.name.find(".remat") != std::string::npos;
    if (mark.fingerprint != kNone) {
      ++facts.qualified;
      marks_[mark.bare].twin_in = input;
      if (fingerprints.empty() || fingerprints.back() != mark.fingerprint) {
        fingerprints.push_back(mark.fingerprint);
      }
    } else if (cost.name.find("::") != std::string::npos) {
      ++facts.never_used;
    }
  }
  for (const uint32_t index : indices) {
    const Mark& mark = marks_[index];
    if (mark.fingerprint != kNone) {  // the module whose value the bare twin repeats
      const Mark& bare = marks_[mark.bare];
      if (bare.seen_in == input && bare.last_us == mark.last_us) {
        AddOrigin(&names_[mark.bare], mark.fingerprint);
      }
    } else if (mark.twin_in != input && facts.qualified > 0 &&
               names_[index].key.find("::") == std::string_view::npos) {
      facts.lone_bare.emplace_back(names_[index].key);
    }
  }
  for (const uint32_t index : duplicates) {
    DuplicateName& duplicate = facts.duplicates.emplace_back();
    duplicate.name = names_[index].key;
    duplicate.count = marks_[index].count;
    duplicate.xla_us = facts.averages && facts.duplicates.size() <= kAverages
                           ? AverageLikeXla(profile, duplicate.name)
                           : marks_[index].last_us;
  }
  std::sort(fingerprints.begin(), fingerprints.end());
  fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
  for (const uint32_t index : fingerprints) facts.fingerprints.push_back(fingerprints_[index]);
  std::sort(facts.fingerprints.begin(), facts.fingerprints.end());
  std::sort(facts.lone_bare.begin(), facts.lone_bare.end());
  std::sort(facts.duplicates.begin(), facts.duplicates.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  previous_ = std::move(indices);
  return facts;
}

void ProfileTable::Absorb(ProfileTable&& other) {
  for (uint32_t i = 0; i < other.names_.size(); ++i) {
    Name& from = other.names_[i];
    const uint32_t index = Intern(from.key);
    Name& to = names_[index];
    if (to.costs.empty()) {
      to.costs = std::move(from.costs);
    } else {
      to.costs.insert(to.costs.end(), from.costs.begin(), from.costs.end());
    }
    from.costs = {};
    to.inputs += from.inputs;
    // Of equal extremes the first input is named, whatever thread read it.
    if (from.min_input != kNone &&
        (to.min_input == kNone ||
         std::tie(from.min_us, from.min_input) < std::tie(to.min_us, to.min_input))) {
      to.min_us = from.min_us;
      to.min_input = from.min_input;
    }
    if (from.max_input != kNone && (to.max_input == kNone || from.max_us > to.max_us ||
                                    (from.max_us == to.max_us && from.max_input < to.max_input))) {
      to.max_us = from.max_us;
      to.max_input = from.max_input;
    }
    for (const uint32_t origin : from.origins) {
      const uint32_t fingerprint = InternFingerprint(other.fingerprints_[origin]);
      AddOrigin(&names_[index], fingerprint);
    }
  }
}

std::vector<uint32_t> ProfileTable::SortedNames() const {
  std::vector<uint32_t> order(names_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const bool qualified_a = names_[a].key.find("::") != std::string_view::npos;
    const bool qualified_b = names_[b].key.find("::") != std::string_view::npos;
    return std::tie(qualified_a, names_[a].key) < std::tie(qualified_b, names_[b].key);
  });
  return order;
}

std::vector<std::string> ProfileTable::NamesUnder(const std::string& fingerprint) const {
  std::vector<std::string> result;
  const auto it = by_fingerprint_.find(fingerprint);
  if (it == by_fingerprint_.end()) return result;
  for (uint32_t i = 0; i < names_.size(); ++i) {
    if (marks_[i].fingerprint == it->second && names_[i].inputs > 0) {
      result.emplace_back(names_[marks_[i].bare].key);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace pgle
