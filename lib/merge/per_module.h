// <fingerprint>.pb files for XLA's directory look-up (gpu_hlo_schedule.cc, ReadProfileFromSources:
// <directory>/<fingerprint>.pbtxt first, then <fingerprint>.pb).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "merge/merge.h"

namespace pgle {

// What would be written, without writing it.
// Errors: no module has a fingerprint, one is no file name; refused: a <fingerprint>.pbtxt lies
// there, which XLA would read instead.
Result<std::vector<std::string>> PlanModuleFiles(const std::string& directory,
                                                 const std::vector<ModuleProfile>& modules);

// Writes them; makes the directory where it is missing.
Status WriteModuleFiles(const std::string& directory, const std::vector<ModuleProfile>& modules);

}  // namespace pgle
