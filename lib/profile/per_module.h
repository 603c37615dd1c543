// <fingerprint>.pb files for XLA's directory look-up (gpu_hlo_schedule.cc, ReadProfileFromSources:
// <directory>/<fingerprint>.pbtxt first, then <fingerprint>.pb).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "io/output_set.h"
#include "profile/cost_profile.h"

namespace pgle {

// The costs of one module.
struct ModuleProfile {
  std::string fingerprint;
  CostProfile profile;  // qualified names
};

// What would be written, without writing it.
// Errors: no module has a fingerprint, one is no file name; refused: a <fingerprint>.pbtxt lies
// there, which XLA would read instead.
Result<std::vector<std::string>> PlanModuleFiles(const std::string& directory,
                                                 const std::vector<ModuleProfile>& modules);

// Adds the files to what is to be written; makes the directory where it is missing.
// Errors: as above; the directory cannot be made or written to.
Status StageModuleFiles(const std::string& directory, const std::vector<ModuleProfile>& modules,
                        OutputSet* outputs);

}  // namespace pgle
