// Where traces lie: a log directory holds plugins/profile/<run>/<host>.xplane.pb.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"

namespace pgle {

// The trace files that an input names, sorted by name.
// `path`: "-", a trace file, a run directory, or a log directory (also its plugins/profile). Of
// several runs in a log directory: the one called `run`, or else the newest, which a note names.
// Files: *.xplane.pb, each also .zst and .gz.
// Errors: does not exist, holds no trace, no such run.
Result<std::vector<std::string>> FindTraceFiles(const std::string& path, const std::string& run,
                                                Diagnostics* diagnostics);

}  // namespace pgle
