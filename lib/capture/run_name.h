// Names of runs and of their files.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "base/result.h"
#include "capture/rank.h"

namespace pgle {

// Of what must not be in a file name, or ends a host's name for XProf (':', '/', blanks, control
// characters): '_'. Never empty, and never starts with '.'.
std::string CleanName(std::string_view text);

// YYYY_MM_DD_HH_MM_SS of the local time, as jax.profiler names its runs.
std::string TimeName(std::time_t time);

// The run's name that all ranks come to: `wanted` (--run), or the job's, or, where there is one
// process, the time's.
// Errors: several ranks, and nothing tells their job.
Result<std::string> ChooseRunName(const std::string& wanted, const Rank& rank, std::time_t now);

// host, or host_r<rank> where there are several.
std::string FileStem(const std::string& host, const Rank& rank);

// Puts the rank, the host and the process id for %r, %h, %p; %% is '%'.
// %r is 0 where there is no rank.
// Errors: another letter after '%'; one file for several ranks.
Result<std::string> ExpandPath(const std::string& option, const std::string& path,
                               const std::string& host, const Rank& rank, int pid);

}  // namespace pgle
