#include "merge/merge_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_set>

#include "base/sha256.h"
#include "io/input.h"
#include "merge/checks.h"

namespace pgle {
namespace {

constexpr size_t kNamesShown = 3;

struct ReadInput {
  std::optional<Error> error;
  std::string sha256;
  ProfileFacts facts;
};

ProfileFormat FormatOf(const std::string& path) {
  std::filesystem::path plain = path;
  if (plain.extension() == ".zst" || plain.extension() == ".gz") plain.replace_extension();
  return plain.extension() == ".pbtxt" ? ProfileFormat::kText : ProfileFormat::kBinary;
}

Result<CostProfile> ReadOne(const std::string& path, const std::string& spool_directory,
                            std::string* sha256) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, spool_directory));
  if (input.bytes().empty()) {
    return Failed(path, "is empty, which reads as a profile without costs",
                  "its process wrote nothing: extract it again");
  }
  *sha256 = Sha256Of(input.bytes());
  PGLE_ASSIGN_OR_RETURN(CostProfile profile, ParseProfile(input.bytes(), FormatOf(path), path));
  if (profile.costs.empty()) {
    return Failed(path, "is a profile without costs", "extract it again");
  }
  for (const InstructionCost& cost : profile.costs) {
    if (cost.name.empty()) {
      return Failed(path, "is no profile: an entry has no name",
                    "the file is damaged, or of another kind: extract the profile again");
    }
  }
  return profile;
}

// What is the same trouble in many inputs is one line.
class InputWarnings {
 public:
  void Add(const MergeInput& input) {
    const ProfileFacts& facts = input.facts;
    if (!facts.duplicates.empty()) duplicates_.push_back(&input);
    if (!facts.lone_bare.empty()) lone_bare_.push_back(&input);
    if (facts.never_used > 0) never_used_.push_back(&input);
  }

  void Print(Diagnostics* diagnostics) const {
    if (!duplicates_.empty()) {
      const MergeInput& input = *duplicates_.front();
      std::string shown;
      for (size_t i = 0; i < std::min(kNamesShown, input.facts.duplicates.size()); ++i) {
        const DuplicateName& name = input.facts.duplicates[i];
        shown += fmt::format("{}{} {} times ({:g} us)", i == 0 ? "" : ", ", name.name, name.count,
                             name.xla_us);
      }
      diagnostics->Warn(input.file + Others(duplicates_),
                        fmt::format("holds {} more than once: {}{}; XLA would use {}",
                                    Names(input.facts.duplicates.size()), shown,
                                    More(input.facts.duplicates.size()),
                                    input.facts.averages
                                        ? "their average, the value in brackets, since a name of "
                                          "the file ends in .remat"
                                        : "the last entry, the value in brackets"),
                        "all their entries were merged, as jaxlib does");
    }
    if (!lone_bare_.empty()) {
      const MergeInput& input = *lone_bare_.front();
      diagnostics->Warn(
          input.file + Others(lone_bare_),
          fmt::format("{} without a qualified twin beside qualified ones: {}{}",
                      Names(input.facts.lone_bare.size()), input.facts.lone_bare.front(),
                      input.facts.lone_bare.size() > 1 ? ", ..." : ""),
          "such costs apply to every module with an instruction of that name");
    }
    if (!never_used_.empty()) {
      const MergeInput& input = *never_used_.front();
      diagnostics->Warn(input.file + Others(never_used_),
                        fmt::format("{} that XLA drops: they are not of the form "
                                    "fingerprint::instruction",
                                    Names(input.facts.never_used)),
                        "they were merged, as jaxlib does");
    }
  }

 private:
  static std::string Names(size_t n) { return fmt::format("{} name{}", n, n == 1 ? "" : "s"); }
  static std::string More(size_t n) {
    return n > kNamesShown ? fmt::format(" and {} more", n - kNamesShown) : "";
  }
  static std::string Others(const std::vector<const MergeInput*>& inputs) {
    return inputs.size() == 1 ? "" : fmt::format(" and {} more inputs", inputs.size() - 1);
  }

  std::vector<const MergeInput*> duplicates_, lone_bare_, never_used_;
};

// Sets merged->processes: inputs, equal ones once.
void CountProcesses(Merged* merged) {
  std::map<std::string, std::vector<const MergeInput*>> by_content;
  for (const MergeInput& input : merged->inputs) by_content[input.sha256].push_back(&input);
  merged->processes = by_content.size();
  size_t groups = 0;
  const std::vector<const MergeInput*>* first = nullptr;
  for (const MergeInput& input : merged->inputs) {
    const auto& equal = by_content[input.sha256];
    if (equal.size() < 2 || equal.front() != &input) continue;
    if (groups++ == 0) first = &equal;
  }
  if (first == nullptr) return;
  std::string others;
  for (size_t i = 1; i < std::min(kNamesShown + 1, first->size()); ++i) {
    others += (i == 1 ? "" : ", ") + (*first)[i]->file;
  }
  if (first->size() > kNamesShown + 1) {
    others += fmt::format(" and {} more", first->size() - kNamesShown - 1);
  }
  if (groups > 1) {
    others +=
        fmt::format("; {} more inputs have their equals, --json has the sha256 of all", groups - 1);
  }
  merged->diagnostics.Warn(first->front()->file, "equal byte for byte: " + others,
                           "two processes never measure the same: a file was copied or named "
                           "twice, and its costs count as often");
}

// A file that was cut between two entries reads as a shorter profile.
void WarnOfThinInputs(Merged* merged) {
  std::vector<uint64_t> entries;
  for (const MergeInput& input : merged->inputs) entries.push_back(input.facts.entries);
  if (entries.size() < 2) return;
  const auto middle = entries.begin() + static_cast<ptrdiff_t>(entries.size() / 2);
  std::nth_element(entries.begin(), middle, entries.end());
  std::vector<const MergeInput*> thin;
  for (const MergeInput& input : merged->inputs) {
    if (2 * input.facts.entries < *middle) thin.push_back(&input);
  }
  if (thin.empty()) return;
  merged->diagnostics.Warn(
      thin.front()->file,
      fmt::format("holds {} entries where most inputs hold {}{}", thin.front()->facts.entries,
                  *middle,
                  thin.size() > 1 ? fmt::format("; so do {} more inputs", thin.size() - 1) : ""),
      "it was cut, or comes from another program");
}

void WarnOfMixedBareNames(const ProfileTable& table, const std::vector<uint32_t>& order,
                          Merged* merged) {
  uint64_t mixed = 0;
  std::string example;
  for (const uint32_t index : order) {
    const ProfileTable::Name& name = table.name(index);
    if (name.origins.size() < 2) continue;
    if (mixed++ > 0) continue;
    std::vector<std::string> fingerprints;
    for (const uint32_t origin : name.origins) fingerprints.push_back(table.fingerprint(origin));
    std::sort(fingerprints.begin(), fingerprints.end());
    example = fmt::format("{} (of {} and {})", name.key, fingerprints[0], fingerprints[1]);
  }
  if (mixed == 0) return;
  merged->diagnostics.Warn(
      "costs",
      fmt::format("{} bare name{} taken over different modules: {}{}", mixed,
                  mixed == 1 ? " is" : "s are", example, mixed > 1 ? ", ..." : ""),
      "--per-module DIR writes one file a module, with qualified names only");
}

class Assembler {
 public:
  // `files`: by the numbers that the table knows inputs by.
  Assembler(const MergeOptions& options, const std::vector<std::string>& files, ProfileTable* table,
            Merged* merged)
      : files_(files),
        table_(*table),
        merged_(*merged),
        max_spread_(options.max_spread),
        percentile_(options.percentile.value_or(kDefaultPercentile)),
        collective_percentile_(options.collective_percentile.value_or(percentile_)) {
    merged_.statistic = PercentileName(percentile_);
    merged_.collective_statistic = PercentileName(collective_percentile_);
  }

  void Run() {
    const std::vector<uint32_t> order = table_.SortedNames();
    std::map<std::string, CostProfile> modules;
    uint64_t bare = 0, qualified = 0;
    for (const uint32_t index : order) {
      ProfileTable::Name& name = table_.name(index);
      if (name.costs.empty()) continue;
      Weigh(name);
      const double cost_us = JaxlibPercentile(
          name.costs, IsCollectiveName(name.key) ? collective_percentile_ : percentile_);
      name.costs = {};
      InstructionCost cost{std::string(name.key), cost_us};
      std::string_view fingerprint, instruction;
      if (SplitKey(name.key, &fingerprint, &instruction)) {
        ++qualified;
        modules[std::string(fingerprint)].costs.push_back(cost);
      } else {
        ++bare;
      }
      merged_.keyed.profile.costs.push_back(std::move(cost));
    }
    merged_.keyed.mode = qualified == 0 ? KeyMode::kBare
                         : bare == 0    ? KeyMode::kQualified
                                        : KeyMode::kBoth;
    for (auto& [fingerprint, profile] : modules) {
      merged_.modules.push_back({fingerprint, std::move(profile)});
    }
    WarnOfMixedBareNames(table_, order, &merged_);
  }

 private:
  void Weigh(const ProfileTable::Name& name) {
    if (name.inputs < merged_.inputs.size()) ++merged_.partial_names;
    if (!IsWide(name.min_us, name.max_us, max_spread_) || name.min_input == name.max_input) return;
    // A qualified name and its bare twin are one finding.
    std::string_view fingerprint, instruction;
    if (SplitKey(name.key, &fingerprint, &instruction) && wide_bare_.count(instruction) > 0) return;
    wide_bare_.insert(name.key);
    merged_.spreads.push_back({std::string(name.key), name.min_us, name.max_us,
                               files_[name.min_input], files_[name.max_input]});
  }

  const std::vector<std::string>& files_;
  ProfileTable& table_;
  Merged& merged_;
  double max_spread_, percentile_, collective_percentile_;
  std::unordered_set<std::string_view> wide_bare_;
};

}  // namespace

Status MergeProfiles(const std::vector<std::string>& files, const MergeOptions& options,
                     Merged* merged) {
  std::vector<ReadInput> read(files.size());
  std::vector<ProfileTable> tables(static_cast<size_t>(std::max(options.jobs, 1)));
  RunParallel(files.size(), options.jobs, [&](size_t i, size_t thread) {
    const Result<CostProfile> profile = ReadOne(files[i], options.spool_directory, &read[i].sha256);
    if (!profile.ok())
      read[i].error = profile.error();
    else
      read[i].facts = tables[thread].Add(static_cast<uint32_t>(i), *profile);
  });
  std::vector<Error> errors;
  for (size_t i = 0; i < files.size(); ++i) {
    if (read[i].error) {
      errors.push_back(std::move(*read[i].error));
    } else {
      merged->inputs.push_back(
          {files[i], ToHex(read[i].sha256), {files[i]}, std::move(read[i].facts)});
    }
  }
  PGLE_RETURN_IF_ERROR(SettleUnreadable(std::move(errors), files.size(), options, merged));
  ProfileTable table = std::move(tables.front());
  for (size_t t = 1; t < tables.size(); ++t) table.Absorb(std::move(tables[t]));
  tables.clear();

  InputWarnings warnings;
  std::vector<ModuleVersions> versions;
  for (const MergeInput& input : merged->inputs) {
    warnings.Add(input);
    versions.push_back({"", input.file, input.facts.fingerprints});
  }
  warnings.Print(&merged->diagnostics);
  CountProcesses(merged);
  WarnOfThinInputs(merged);
  PGLE_RETURN_IF_ERROR(CheckProcesses(versions, options, &table, merged));
  if (merged->refusal) return {};
  Assembler(options, files, &table, merged).Run();
  ReportSpreads(options, merged);
  return {};
}

}  // namespace pgle
