// What logs say about profiles, process by process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pgle {

enum class ProfileSource { kNone, kPath, kFdo, kFdoBinary, kFdoText };

// One compile of a module, or several that went alike.
struct LogCompile {
  uint64_t times = 1;
  ProfileSource source = ProfileSource::kNone;
  std::string path;     // of kPath
  std::string failure;  // why no profile was read, as XLA put it; empty when one was
  // "Found profile for module": XLA took the profile-guided estimator.
  bool profile_found = false;
  // The accuracy checker's counts: look-ups found, instructions missing. It prints neither when
  // nothing is missing, or when it is off.
  std::optional<uint64_t> found, missing;
  std::vector<std::string> missing_names;  // sorted; at most kMaxNames
  // Lines of two threads were mixed where the prefix has no thread id: this compile's counts are
  // one of several. `found` and `missing` are then those with the smallest share, best_* those with
  // the largest.
  bool mixed = false;
  std::optional<uint64_t> best_found, best_missing;
  // Names of missing instructions, or one of the counts, without what belongs to them: lines were
  // lost.
  bool lines_lost = false;
  // The latency hiding scheduler had something to schedule here, with no other compile between.
  bool scheduled = false;
  // The accuracy checker is on: it spoke of another module on this thread.
  bool checker_spoke_on_thread = false;
  uint64_t verbose_hits = 0, verbose_misses = 0;  // VLOG of single look-ups
  bool not_applicable = false;                    // 2023: XLA dropped the profile
  bool may_not_apply = false;
  bool discarded = false;  // the accuracy checker made the compile fail
  std::string fallback;
  int64_t thread = -1;  // of the first of them

  static constexpr size_t kMaxNames = 20'000;
  uint64_t lookups() const { return found.value_or(0) + missing.value_or(0); }
};

// Where a compile's profile came from, for people: a path, or which fdo_profile. Empty: not known.
std::string SourceText(const LogCompile& compile);

struct LogModule {
  std::string name;                    // empty: XLA before June 2025 does not say
  std::set<std::string> fingerprints;  // VLOG only
  std::vector<LogCompile> compiles;
  uint64_t compiles_left_out = 0;  // beyond kMaxCompiles different ones
  // JAX's compilation cache
  bool pgle_cache_hit = false, plain_cache_hit = false, pgle_cache_miss = false,
       pgle_cache_write = false;

  static constexpr size_t kMaxCompiles = 256;
};

// The autotuner's modules under one name without its numbers.
struct LogStem {
  uint64_t compiles = 0, found = 0, missing = 0;
};

struct LogProcess {
  std::string file;
  std::string label;          // what the launcher put before each line; empty where it put nothing
  int attempt = 1;            // the program was started again with the same process id
  uint64_t lines = 0;         // that were looked at
  bool shows_info = false;    // a line of level I
  std::set<int64_t> started;  // threads that started an XLA service; -1 where not said
  uint64_t starts = 0;
  uint64_t scheduler_runs = 0;     // of the latency hiding scheduler
  bool checker_spoke = false;      // the accuracy checker is on
  std::vector<LogModule> modules;  // the user's, in order of appearance
  std::map<std::string, LogStem> small_modules;

  // Faults that name no module.
  std::map<std::string, uint64_t> missing_files;        // path; of a directory: "DIR/" once
  std::set<std::string> missing_fingerprints;           // asked of a directory
  std::map<std::string, std::string> unreadable_files;  // path and the parser's message
  uint64_t unreadable_fdo = 0;
  std::map<std::string, uint64_t> cupti_errors;
  uint64_t empty_traces = 0;
  uint64_t discarded = 0;  // compiles that the accuracy checker made fail
  std::string unknown_flags;

  static constexpr size_t kMaxModules = 10'000, kMaxStems = 1'000, kMaxFingerprints = 100'000;
  // No message about a profile at all.
  bool silent() const;
  const LogModule* Find(const std::string& module) const;
};

struct LogReport {
  std::vector<LogProcess> processes;  // in order of file, then of first line
  struct File {
    std::string name;
    uint64_t bytes = 0;
  };
  std::vector<File> files;
};

}  // namespace pgle
