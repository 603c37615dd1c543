// pgle-merge's work: profiles or sample files of many processes in, one profile for all of them
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "merge/drift.h"
#include "merge/input_list.h"
#include "merge/profile_table.h"
#include "profile/cost_profile.h"
#include "profile/keys.h"
#include "profile/per_module.h"

namespace pgle {

// JAX's default (JAX_PGLE_AGGREGATION_PERCENTILE).
inline constexpr double kDefaultPercentile = 90;

struct MergeOptions {
  std::vector<std::string> inputs;   // as on the command line; see ResolveMergeInputs
  bool nul_separated = false;        // lists of inputs
  std::optional<double> percentile;  // 0..100; none: kDefaultPercentile, samples: their header's
  std::optional<double> collective_percentile;  // none: as `percentile`
  KeyMode keys = KeyMode::kAuto;                // samples only; profiles keep their keys
  bool skip_unreadable = false;                 // --failure-mode warn
  bool allow_drift = false;
  uint64_t expect_processes = 0;     // 0: any number
  double max_spread = 5;             // a cost that differs by more over processes is warned of
  std::vector<std::string> hlo;      // for naming what differs between versions of a module
  std::vector<std::string> outputs;  // that no input may be
  std::string samples_out;           // samples only; written by Merge() once all is well
  std::string per_module;            // a directory: checked by Merge(), written by the caller
  bool want_profile = true;
  int jobs = 1;
  std::string spool_directory = "/tmp";
};

struct MergeInput {
  std::string file;
  std::string sha256;                  // hex; of a profile's unpacked bytes
  std::vector<std::string> processes;  // a profile: the file's name
  ProfileFacts facts;                  // of a profile
};

// A name whose cost differs widely.
struct CostSpread {
  std::string name;
  double min_us = 0, max_us = 0;
  std::string min_process, max_process;
};

// Costs below this count as this much when a spread is worked out: launch noise, not drift.
inline constexpr double kSpreadFloorUs = 1;

struct SampleTotals {
  uint64_t records = 0, executions = 0;
  uint64_t matched = 0;     // executions of collectives that found all processes
  uint64_t unmatched = 0;   // left as their files have them
  Picoseconds plain = 0;    // sum of the matched ones as their files have them
  Picoseconds removed = 0;  // of that, above the fastest participant
};

struct Merged {
  InputKind kind = InputKind::kProfiles;
  std::string statistic;  // "p90"; also of collectives unless that differs
  std::string collective_statistic;
  std::vector<MergeInput> inputs;  // merged, in the order given
  std::vector<Error> skipped;      // unreadable
  uint64_t processes = 0;          // distinct ones
  DriftReport drift;
  std::vector<CostSpread> spreads;  // widest first
  uint64_t partial_names = 0;       // that not every process has
  SampleTotals samples;
  KeyedProfile keyed;                     // for profiles the mode is as found
  std::vector<ModuleProfile> modules;     // by fingerprint
  std::vector<std::string> module_files;  // of --per-module, to be written
  // A check said no: no profile and no file.
  std::optional<Error> refusal;
  Diagnostics diagnostics;
};

// Errors: no input, an unreadable one (unless skipped), none readable, no cost at all, nothing to
// write. What a check refuses is no error but Merged::refusal.
Result<Merged> Merge(const MergeOptions& options);

}  // namespace pgle
