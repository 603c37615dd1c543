#include "profile/per_module.h"

#include <algorithm>
#include <filesystem>

namespace pgle {
namespace {

namespace fs = std::filesystem;

// Fingerprints come from files that others wrote: one must not lead out of the directory.
bool IsPlainName(const std::string& fingerprint) {
  return !fingerprint.empty() &&
         std::all_of(fingerprint.begin(), fingerprint.end(),
                     [](unsigned char c) { return isalnum(c) || c == '_'; });
}

fs::path PathFor(const std::string& directory, const ModuleProfile& module) {
  return fs::path(directory) / (module.fingerprint + ".pb");
}

}  // namespace

Result<std::vector<std::string>> PlanModuleFiles(const std::string& directory,
                                                 const std::vector<ModuleProfile>& modules) {
  if (modules.empty()) {
    return Failed(directory, "no cost carries a fingerprint, so no file can be named after one",
                  "extract with the HLO of the run at hand (pgle-extract --hlo)");
  }
  std::vector<std::string> paths;
  for (const ModuleProfile& module : modules) {
    if (!IsPlainName(module.fingerprint)) {
      return Failed(directory,
                    "'" + module.fingerprint + "' is no fingerprint to name a file after",
                    "XLA's are 32 hexadecimal digits: check where that name comes from");
    }
    const fs::path path = PathFor(directory, module);
    const fs::path shadow = fs::path(path).replace_extension(".pbtxt");
    std::error_code error;
    if (fs::exists(shadow, error)) {
      return Refused(shadow, "XLA would read this file instead of the new .pb beside it",
                     "remove it");
    }
    paths.push_back(path);
  }
  return paths;
}

Status StageModuleFiles(const std::string& directory, const std::vector<ModuleProfile>& modules,
                        OutputSet* outputs) {
  PGLE_ASSIGN_OR_RETURN(const std::vector<std::string> paths, PlanModuleFiles(directory, modules));
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return Failed(directory, "cannot make the directory: " + error.message(),
                  "check the path and its permissions");
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    PGLE_RETURN_IF_ERROR(
        outputs->Stage(paths[i], SerializeProfile(modules[i].profile, ProfileFormat::kBinary)));
  }
  return {};
}

}  // namespace pgle
