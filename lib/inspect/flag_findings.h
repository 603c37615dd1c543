// Every way in which flags and environment make XLA ignore a profile without a word.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "inspect/xla_flags.h"

namespace pgle {

// The variables that matter, as the caller found them; none: not set.
struct JobEnvironment {
  std::optional<std::string> log_level;        // TF_CPP_MIN_LOG_LEVEL
  std::optional<std::string> enable_pgle;      // JAX_ENABLE_PGLE
  std::optional<std::string> profiling_runs;   // JAX_PGLE_PROFILING_RUNS
  std::optional<std::string> expect_pgle;      // JAX_COMPILATION_CACHE_EXPECT_PGLE
  std::optional<std::string> cache_directory;  // JAX_COMPILATION_CACHE_DIR
};

struct FlagFinding {
  enum class Kind {
    kIgnored,  // the profile would not be used
    kHidden,   // it may be used, but nothing would show it
    kNote,
  };
  Kind kind = Kind::kNote;
  std::string id;  // stable, for programs: "dropped", "missing_path", ...
  std::string cause, fix;
  // True where the flags alone show it; false where it depends on this machine's files or
  // environment.
  bool by_flags_alone = false;
};

struct FlagReport {
  XlaFlags flags;
  std::string profile_path;  // effective; empty: none
  bool auto_pgle = false;    // JAX_ENABLE_PGLE
  std::vector<FlagFinding> findings;
  // A profile is asked for, and nothing makes XLA ignore it.
  bool profile_would_be_used() const;
};

struct FlagQuestion {
  XlaFlags flags;
  JobEnvironment environment;
  bool look_at_files = true;           // this is the machine that the job runs on
  std::set<std::string> fingerprints;  // of the modules to compile, where known
};

FlagReport InspectFlags(const FlagQuestion& question, const std::string& spool_directory);

std::string FormatFlagsText(const FlagReport& report);
std::string FormatFlagsJson(const FlagReport& report);

const char* FindingKindName(FlagFinding::Kind kind);  // "ignored", "hidden", "note"

}  // namespace pgle
