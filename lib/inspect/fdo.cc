#include "inspect/fdo.h"

#include <algorithm>
#include <tuple>

#include "base/sha256.h"
#include "inspect/dump_files.h"
#include "inspect/read_profile.h"
#include "io/input.h"

namespace pgle {
namespace {

Status AddPoint(const DumpFile& file, const std::string& spool_directory, FdoCompile* compile) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(file.path, spool_directory));
  compile->points.push_back(
      {file.point, file.path, input.bytes().size(), ToHex(Sha256Of(input.bytes()))});
  compile->is_equal &= compile->points.back().sha256 == compile->points.front().sha256;
  // Read at every point: a damaged one is to be known.
  Result<CostProfile> profile = ParseFdoProfile(input.bytes(), input.name());
  if (!profile.ok()) {
    profile.error().hint =
        "if it is as XLA wrote it, XLA could not parse it either: the log says so";
    return std::move(profile.error());
  }
  compile->profile = std::move(*profile);
  return {};
}

}  // namespace

Result<std::vector<FdoCompile>> ReadFdoProfiles(const std::string& folder, const CostProfile* given,
                                                const std::string& spool_directory) {
  PGLE_ASSIGN_OR_RETURN(const std::vector<DumpFile> files, FindDumpFiles(folder, ".fdo_profile"));
  if (files.empty()) {
    return Failed(folder, "holds no .fdo_profile file",
                  "XLA writes them with XLA_FLAGS=\"--xla_dump_to=DIR "
                  "--xla_gpu_experimental_dump_fdo_profiles=true\"");
  }
  PGLE_ASSIGN_OR_RETURN(const auto paths, ProfilePathsInDump(folder, spool_directory));
  std::vector<FdoCompile> compiles;
  for (const DumpFile& file : files) {
    if (compiles.empty() || compiles.back().id != file.id ||
        compiles.back().module != file.module) {
      compiles.emplace_back().id = file.id;
      compiles.back().module = file.module;
      const auto path = paths.find(file.id);
      if (path != paths.end()) compiles.back().profile_path = path->second;
    }
    PGLE_RETURN_IF_ERROR(AddPoint(file, spool_directory, &compiles.back()));
  }
  std::stable_sort(compiles.begin(), compiles.end(), [](const FdoCompile& a, const FdoCompile& b) {
    return std::tie(a.module, a.id) < std::tie(b.module, b.id);
  });
  for (size_t i = 0; i < compiles.size(); ++i) {
    FdoCompile& compile = compiles[i];
    if (i > 0 && compiles[i - 1].module == compile.module) {
      compile.change = DiffProfiles(compiles[i - 1].profile, compile.profile);
    }
    if (given != nullptr && !compile.is_empty()) {
      compile.against = DiffProfiles(*given, compile.profile);
    }
  }
  return compiles;
}

}  // namespace pgle
