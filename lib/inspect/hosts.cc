#include "inspect/hosts.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/sha256.h"
#include "hlo/dump_folder.h"
#include "hlo/scheduler_queries.h"
#include "inspect/module_name.h"
#include "io/input.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

Result<HloModule> Load(const std::string& file, const std::string& spool_directory) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(file, spool_directory));
  return ParseHlo(input.bytes(), input.name(), HloDetail::kBackendConfigs);
}

// What XLA was handed with the compile request: the .fdo_profile beside the module.
Result<std::string> ProfileBeside(const std::string& hlo_file, const std::string& spool_directory) {
  std::string stem = hlo_file;
  for (const char* suffix : {".zst", ".gz", ".hlo.pb", ".txt"}) {
    const size_t length = std::char_traits<char>::length(suffix);
    if (stem.size() > length && stem.compare(stem.size() - length, length, suffix) == 0) {
      stem.resize(stem.size() - length);
    }
  }
  for (const char* packed : {"", ".zst", ".gz"}) {
    const std::string path = stem + ".fdo_profile" + packed;
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, spool_directory));
    return input.bytes().empty() ? "empty" : ToHex(Sha256Of(input.bytes()));
  }
  return std::string();
}

std::string NamesDigest(const HloModule& module) {
  std::vector<std::string_view> names;
  for (const SchedulerQuery& query : SchedulerQueries(module)) names.push_back(query.name);
  std::sort(names.begin(), names.end());
  Sha256 digest;
  for (std::string_view name : names) {
    digest.Update(name);
    digest.Update("\n");
  }
  return digest.Finish();
}

struct Compile {
  size_t rank;
  HostVariant variant;  // of this compile alone
};

bool IsAlike(const HostVariant& a, const HostVariant& b) {
  return a.fingerprint == b.fingerprint && a.profile_sha256 == b.profile_sha256 &&
         a.names_sha256 == b.names_sha256 && a.collectives == b.collectives;
}

// Of each rank, its compiles of one module in order; taken apart into one compared module for each.
// Compiles of one fingerprint belong together, whatever the order; the rest go in order.
std::vector<std::vector<Compile>> Align(std::vector<std::vector<Compile>> by_rank) {
  std::vector<std::vector<Compile>> aligned;
  const auto take = [&](auto pick) {
    std::vector<Compile> row;
    for (std::vector<Compile>& compiles : by_rank) {
      const auto it = pick(compiles);
      if (it == compiles.end()) continue;
      row.push_back(std::move(*it));
      compiles.erase(it);
    }
    aligned.push_back(std::move(row));
  };
  std::vector<std::string> fingerprints;
  for (const Compile& compile : by_rank.front()) {
    fingerprints.push_back(compile.variant.fingerprint);
  }
  for (const std::string& fingerprint : fingerprints) {
    const auto find = [&](std::vector<Compile>& compiles) {
      return std::find_if(compiles.begin(), compiles.end(), [&](const Compile& compile) {
        return compile.variant.fingerprint == fingerprint;
      });
    };
    if (std::all_of(by_rank.begin(), by_rank.end(), [&](std::vector<Compile>& compiles) {
          return find(compiles) != compiles.end();
        })) {
      take(find);
    }
  }
  while (std::any_of(by_rank.begin(), by_rank.end(), [](const auto& c) { return !c.empty(); })) {
    take([](std::vector<Compile>& compiles) { return compiles.begin(); });
  }
  return aligned;
}

Status Describe(HostVariant* variant, const HostVariant& reference,
                const std::string& spool_directory) {
  const auto [a, b] = std::mismatch(reference.collectives.begin(), reference.collectives.end(),
                                    variant->collectives.begin(), variant->collectives.end());
  if (a != reference.collectives.end() || b != variant->collectives.end()) {
    variant->first_other_collective = static_cast<size_t>(a - reference.collectives.begin());
  }
  PGLE_ASSIGN_OR_RETURN(const HloModule before, Load(reference.file, spool_directory));
  PGLE_ASSIGN_OR_RETURN(const HloModule here, Load(variant->file, spool_directory));
  variant->differences = DiffInstructions(before, here);
  return {};
}

Result<ComparedModule> Compare(const std::string& name, std::vector<Compile> compiles, size_t ranks,
                               const std::string& spool_directory) {
  ComparedModule module;
  module.name = name;
  std::vector<bool> present(ranks);
  for (Compile& compile : compiles) {
    present[compile.rank] = true;
    const auto alike =
        std::find_if(module.variants.begin(), module.variants.end(),
                     [&](const HostVariant& variant) { return IsAlike(variant, compile.variant); });
    if (alike == module.variants.end())
      module.variants.push_back(std::move(compile.variant));
    else
      alike->ranks.push_back(compile.rank);
  }
  for (size_t rank = 0; rank < ranks; ++rank) {
    if (!present[rank]) module.absent.push_back(rank);
  }
  std::stable_sort(
      module.variants.begin(), module.variants.end(),
      [](const HostVariant& a, const HostVariant& b) { return a.ranks.size() > b.ranks.size(); });
  for (size_t i = 1; i < module.variants.size(); ++i) {
    PGLE_RETURN_IF_ERROR(Describe(&module.variants[i], module.variants.front(), spool_directory));
  }
  return module;
}

// The ranks' folders: as given, or those in the one folder given.
std::vector<std::string> Ranks(const std::vector<std::string>& inputs) {
  std::error_code error;
  if (inputs.size() != 1 || !fs::is_directory(inputs.front(), error)) return inputs;
  std::vector<std::string> folders;
  for (const auto& item : fs::directory_iterator(inputs.front(), error)) {
    if (item.is_directory(error)) folders.push_back(item.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders.size() < 2 ? inputs : folders;
}

}  // namespace

bool ComparedModule::differs() const {
  return variants.size() > 1 || (!absent.empty() && !variants.front().collectives.empty());
}

bool HostsComparison::differs() const {
  return std::any_of(modules.begin(), modules.end(),
                     [](const ComparedModule& module) { return module.differs(); });
}

Result<HostsComparison> CompareHosts(const std::vector<std::string>& inputs,
                                     const std::string& pattern,
                                     const std::string& spool_directory) {
  const RE2 regex(pattern, RE2::Quiet);
  if (!regex.ok()) return UsageError("--module", "bad pattern: " + regex.error());
  HostsComparison comparison;
  comparison.ranks = Ranks(inputs);
  if (comparison.ranks.size() < 2) {
    return UsageError("", "one rank alone cannot differ",
                      "name the dump folders of two ranks or more, or a folder that holds them");
  }
  std::map<std::string, std::vector<std::vector<Compile>>> by_name;
  bool any_user = false;
  for (size_t rank = 0; rank < comparison.ranks.size(); ++rank) {
    PGLE_ASSIGN_OR_RETURN(const DumpFolder dump,
                          DumpFolder::Open(comparison.ranks[rank], spool_directory));
    for (const std::string& file : dump.files()) {
      PGLE_ASSIGN_OR_RETURN(const HloModule module, Load(file, spool_directory));
      any_user |= IsFrameworkModule(module.name());
      HostVariant variant;
      variant.ranks = {rank};
      variant.file = file;
      variant.fingerprint = module.fingerprint();
      PGLE_ASSIGN_OR_RETURN(variant.profile_sha256, ProfileBeside(file, spool_directory));
      variant.collectives = CollectiveOrder(module);
      variant.names_sha256 = NamesDigest(module);
      std::vector<std::vector<Compile>>& compiles = by_name[module.name()];
      compiles.resize(comparison.ranks.size());
      compiles[rank].push_back({rank, std::move(variant)});
    }
  }
  for (auto& [name, compiles] : by_name) {
    const bool is_compared =
        pattern.empty() ? !any_user || IsFrameworkModule(name) : RE2::PartialMatch(name, regex);
    if (!is_compared) {
      ++comparison.other_modules;
      continue;
    }
    for (std::vector<Compile>& row : Align(std::move(compiles))) {
      PGLE_ASSIGN_OR_RETURN(
          ComparedModule module,
          Compare(name, std::move(row), comparison.ranks.size(), spool_directory));
      comparison.modules.push_back(std::move(module));
    }
  }
  if (comparison.modules.empty()) {
    return Failed("--module", fmt::format("no module matches '{}'", pattern),
                  fmt::format("there are {} others", comparison.other_modules));
  }
  return comparison;
}

}  // namespace pgle
