// What a log proves about one compile, one module, one process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "inspect/coverage.h"
#include "inspect/log_report.h"

namespace pgle {

// In order of weight: of several compiles or processes the last of these wins.
enum class Verdict { kUsed, kNotShown, kNotUsed };

const char* VerdictName(Verdict verdict);  // "used", "not shown", "not used"

struct ModuleVerdict {
  std::string module;  // empty: the log names none, the verdict is for the process
  std::string fingerprint;
  std::string file, label;  // the process; file is empty where no log was given
  int attempt = 1;
  Verdict verdict = Verdict::kNotShown;
  std::string source;  // "path/of/profile.pb", "fdo_profile (binary)"
  std::optional<uint64_t> found, missing;
  bool emulated = false;  // the counts come from --hlo and --profile, not from XLA
  bool scheduled = false;
  std::string cause, fix;
  bool is_target = false;

  std::optional<double> share() const;
};

struct VerdictRules {
  double min_coverage = 0.5;
};

// coverage: of this module by --hlo and --profile; null where not known.
ModuleVerdict JudgeModule(const LogProcess& process, const LogModule& module,
                          const HloCoverage* coverage, const VerdictRules& rules);

// The verdict for a process whose log names no module.
ModuleVerdict JudgeProcess(const LogProcess& process);

}  // namespace pgle
