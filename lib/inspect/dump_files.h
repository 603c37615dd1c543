// The files of an XLA dump folder by what their names say:
// "[prefix.]module_0012.jit_step.POINT.EXT" (XLA: xla/service/dump.cc). The prefix is a timestamp,
// where XLA was told to write one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace pgle {

struct DumpFile {
  std::string path;
  int64_t id = -1;     // counts per process, so ranks differ in it
  std::string module;  // empty where XLA left it out of a name that was too long
  std::string point;   // "before_optimizations", "sm_9.0a_gpu_after_optimizations", ...
};

// Files of that extension (".fdo_profile"), also .zst and .gz, in order of id, module and point.
// Errors: not a folder, cannot be read. None found is no error.
Result<std::vector<DumpFile>> FindDumpFiles(const std::string& folder,
                                            const std::string& extension);

// The values of xla_gpu_pgle_profile_file_or_directory_path by module id, from the .debug_options
// and .config.pbtxt that XLA dumps beside a module; a module for which nothing tells has none.
Result<std::map<int64_t, std::string>> ProfilePathsInDump(const std::string& folder,
                                                          const std::string& spool_directory);

}  // namespace pgle
