#include "inspect/read_profile.h"

#include <filesystem>

#include "io/input.h"

namespace pgle {

Result<CostProfile> ParseFdoProfile(std::string_view bytes, const std::string& name) {
  Result<CostProfile> profile = ParseProfile(bytes, ProfileFormat::kBinary, name);
  if (profile.ok()) return profile;
  Result<CostProfile> text = ParseProfile(bytes, ProfileFormat::kText, name);
  return text.ok() ? std::move(text) : std::move(profile);
}

Result<CostProfile> ReadAnyProfile(const std::string& path, const std::string& spool_directory) {
  std::filesystem::path plain = path;
  if (plain.extension() == ".zst" || plain.extension() == ".gz") plain.replace_extension();
  const auto read = [&]() -> Result<CostProfile> {
    if (plain.extension() != ".fdo_profile") {
      Result<CostProfile> profile = ReadProfile(path, spool_directory);
      // The call is right, the file is not.
      if (!profile.ok()) profile.error().code = ErrorCode::kFailed;
      return profile;
    }
    PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, spool_directory));
    return ParseFdoProfile(input.bytes(), input.name());
  };
  PGLE_ASSIGN_OR_RETURN(CostProfile profile, read());
  if (profile.costs.empty()) {
    return Failed(path, "holds no cost",
                  plain.extension() == ".fdo_profile"
                      ? "an empty .fdo_profile means that the compile request carried no profile"
                      : "give a profile that was written by pgle-extract, pgle-merge or JAX");
  }
  return profile;
}

}  // namespace pgle
