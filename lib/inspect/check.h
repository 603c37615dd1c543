// All evidence of a run, and one verdict: was the profile used?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/flag_findings.h"
#include "inspect/module_name.h"
#include "inspect/verdict.h"

namespace pgle {

struct CheckOptions {
  std::vector<std::string> logs;
  std::string dump_directory;
  std::string hlo;  // file or dump folder; the dump directory where empty
  std::string profile;
  std::string module_pattern;  // RE2, anywhere in the name
  std::optional<std::string> xla_flags;
  double min_coverage = 0.5;
  std::string spool_directory = "/tmp";
};

struct CheckReport {
  Verdict verdict = Verdict::kNotShown;  // the worst of the target's
  std::string target;                    // how the target was chosen
  std::vector<ModuleVerdict> modules;    // in order of log, process and first line; targets marked
  struct SmallModules {
    uint64_t stems = 0, compiles = 0, found = 0, missing = 0;
  } small_modules;
  std::optional<FlagReport> flags;
  std::vector<std::string> notes;
};

// Errors: a log, profile or HLO that cannot be read; a pattern that is none; no evidence given.
Result<CheckReport> Check(const CheckOptions& options);

std::string FormatCheckText(const CheckReport& report, bool verbose);
std::string FormatCheckJson(const CheckReport& report, double min_coverage);

// A filter for modules that match `pattern` (empty: those that JAX names).
// Errors: the pattern is none.
Result<ModuleFilter> FilterForPattern(const std::string& pattern);

}  // namespace pgle
