#include "inspect/flag_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "inspect/module_name.h"
#include "inspect/read_profile.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;
using Kind = FlagFinding::Kind;

constexpr std::string_view kPathFlag = "xla_gpu_pgle_profile_file_or_directory_path";
constexpr std::string_view kCheckerFlag = "xla_gpu_pgle_accuracy_checker";

struct Findings {
  FlagReport* report;
  void Add(Kind kind, const char* id, std::string cause, std::string fix, bool by_flags_alone) {
    report->findings.push_back({kind, id, std::move(cause), std::move(fix), by_flags_alone});
  }
};

bool IsTrue(const std::optional<std::string>& value) {
  if (!value) return false;
  std::string lower = *value;  // JAX's bool_env: y yes t true on 1
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"1", "true", "yes", "on", "y", "t"}) {
    if (lower == yes) return true;
  }
  return false;
}

bool LooksLikeFingerprint(std::string_view text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

void CheckParsing(const XlaFlags& flags, Findings& findings) {
  if (!flags.dropped.empty()) {
    const bool drops_profile = flags.dropped.find(kPathFlag) != std::string::npos;
    findings.Add(drops_profile ? Kind::kIgnored : Kind::kNote, "dropped",
                 fmt::format("XLA stops at '{}', which does not start with '-', and drops what "
                             "follows without a message: {}",
                             flags.stopped_at, flags.dropped),
                 "remove that token; write flags as --name=value, and join lines without a "
                 "backslash inside the quotes",
                 true);
  }
  if (flags.unclosed_quote) {
    findings.Add(Kind::kNote, "unclosed_quote",
                 fmt::format("the value of {} has no closing quote and takes all that follows",
                             flags.flags.back().name),
                 "close the quote", true);
  }
  for (const XlaFlag& flag : flags.flags) {
    const bool two_dashes = flag.name.starts_with("--") && !flag.name.starts_with("---");
    if (!two_dashes) {
      findings.Add(Kind::kIgnored, "one_dash",
                   fmt::format("'{}' is no flag for XLA, which ends the process: flags start with "
                               "two dashes",
                               flag.name),
                   "write --name=value", true);
    } else if (!flag.value && flag.name.substr(2) == kPathFlag) {
      findings.Add(Kind::kIgnored, "no_value",
                   fmt::format("{} has no value: XLA takes none from the next token", flag.name),
                   "write --name=value", true);
    }
  }
}

void CheckProfile(const std::string& path, const std::string& spool_directory,
                  const std::set<std::string>& fingerprints, Findings& findings) {
  const auto profile = ReadAnyProfile(path, spool_directory);
  if (!profile.ok()) {
    return findings.Add(Kind::kIgnored, "unreadable_profile",
                        profile.error().where + ": " + profile.error().what, profile.error().hint,
                        false);
  }
  if (fingerprints.empty()) return;
  for (const InstructionCost& cost : profile->costs) {
    const size_t colons = cost.name.find("::");
    if (colons == std::string::npos || fingerprints.count(cost.name.substr(0, colons)) != 0) return;
  }
  findings.Add(Kind::kIgnored, "foreign_fingerprint",
               fmt::format("every name in {} carries the fingerprint of another module", path),
               "make the profile from this program, built by the same XLA", false);
}

void CheckDirectory(const std::string& path, const std::string& spool_directory,
                    const std::set<std::string>& fingerprints, Findings& findings) {
  std::error_code error;
  std::set<std::string> text, binary;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string stem = entry.path().stem().string();
    if (!LooksLikeFingerprint(stem)) continue;
    if (entry.path().extension() == ".pbtxt") text.insert(stem);
    if (entry.path().extension() == ".pb") binary.insert(stem);
  }
  if (text.empty() && binary.empty()) {
    return findings.Add(
        Kind::kIgnored, "no_fingerprint_file",
        fmt::format("{} holds no <fingerprint>.pb and no <fingerprint>.pbtxt", path),
        "write them with pgle-extract --per-module, or name the profile itself", false);
  }
  for (const std::string& fingerprint : fingerprints) {
    if (text.count(fingerprint) + binary.count(fingerprint) > 0) continue;
    findings.Add(Kind::kIgnored, "no_fingerprint_file",
                 fmt::format("{} holds no {}.pb", path, fingerprint),
                 "write it with pgle-extract --per-module", false);
  }
  for (const std::string& fingerprint : binary) {
    if (text.count(fingerprint) == 0) continue;
    const bool matters = fingerprints.empty() || fingerprints.count(fingerprint) != 0;
    findings.Add(
        matters ? Kind::kIgnored : Kind::kNote, "shadowed",
        fmt::format("XLA reads {}/{}.pbtxt and ignores the .pb beside it", path, fingerprint),
        "remove the .pbtxt", false);
  }
  for (const auto* names : {&text, &binary}) {
    for (const std::string& fingerprint : *names) {
      if (!fingerprints.empty() && fingerprints.count(fingerprint) == 0) continue;
      CheckProfile((fs::path(path) / (fingerprint + (names == &text ? ".pbtxt" : ".pb"))).string(),
                   spool_directory, fingerprints, findings);
    }
  }
}

void CheckPath(const FlagQuestion& question, const std::string& path,
               const std::string& spool_directory, Findings& findings) {
  if (const size_t scheme = path.find("://");
      scheme != std::string::npos && scheme > 0 && path.find('/') == scheme + 1) {
    return findings.Add(
        Kind::kIgnored, "remote_path",
        fmt::format("{} is remote: XLA's file layer in jaxlib reads local files only", path),
        "copy the profile to a local path on every host first", true);
  }
  std::error_code error;
  const fs::file_status status =
      question.look_at_files ? fs::status(path, error) : fs::file_status(fs::file_type::unknown);
  if (fs::is_directory(status)) {
    return CheckDirectory(path, spool_directory, question.fingerprints, findings);
  }
  // XLA: ReadProfileFromSources takes what follows the last dot of the file's name.
  const std::string extension = fs::path(path).extension().string();
  const bool known = extension == ".pb" || extension == ".pbtxt";
  const bool may_be_directory = !question.look_at_files && extension.empty();
  if (!known && !may_be_directory) {
    findings.Add(
        Kind::kIgnored, "extension",
        fmt::format("XLA ignores {} without a message: its name ends neither in .pb nor in "
                    ".pbtxt",
                    path),
        "rename it: .pb for a binary profile, .pbtxt for text", true);
  }
  if (!question.look_at_files) return;
  if (!fs::exists(status)) {
    std::string fix = "check the path as the job sees it (container mounts, working directory)";
    if (path.starts_with("~")) fix = "write the home directory out: XLA does not expand ~";
    if (path.find('$') != std::string::npos)
      fix = "the shell did not expand the variable: use \"\"";
    return findings.Add(Kind::kIgnored, "missing_path", path + " does not exist", fix, false);
  }
  if (known) CheckProfile(path, spool_directory, question.fingerprints, findings);
  if (!path.starts_with("/")) {
    findings.Add(Kind::kNote, "relative_path",
                 path + " is taken from the working directory of the job", "write the whole path",
                 true);
  }
}

void CheckEvidence(const FlagQuestion& question, Findings& findings) {
  const std::optional<std::string>& level = question.environment.log_level;
  const long value = level ? std::strtol(level->c_str(), nullptr, 10) : 1;
  if (!level) {
    findings.Add(Kind::kHidden, "log_level",
                 "TF_CPP_MIN_LOG_LEVEL is not set, and JAX then sets 1: the lines that say where "
                 "the profile came from are hidden",
                 "set TF_CPP_MIN_LOG_LEVEL=0", false);
  } else if (value > 0) {
    findings.Add(Kind::kHidden, "log_level",
                 fmt::format("TF_CPP_MIN_LOG_LEVEL={} hides {}", *level,
                             value == 1 ? "the lines that say where the profile came from"
                                        : "every line about the profile, found and missing counts "
                                          "included"),
                 "set TF_CPP_MIN_LOG_LEVEL=0", false);
  }
  const XlaFlag* checker = question.flags.Find(kCheckerFlag);
  if (checker == nullptr) return;
  const std::string setting = checker->value.value_or("");
  if (setting == "PGLE_STRICTNESS_LEVEL_OFF") {
    findings.Add(Kind::kHidden, "checker_off",
                 "the accuracy checker is off: XLA will not say what it found and what it missed",
                 "remove --xla_gpu_pgle_accuracy_checker, or set PGLE_STRICTNESS_LEVEL_WARN", true);
  } else if (setting != "PGLE_STRICTNESS_LEVEL_WARN" && setting != "PGLE_STRICTNESS_LEVEL_ERROR") {
    findings.Add(Kind::kIgnored, "checker_value",
                 fmt::format("--{}={} is no value that XLA knows: it ends the process",
                             kCheckerFlag, setting),
                 "write PGLE_STRICTNESS_LEVEL_OFF, _WARN or _ERROR in full", true);
  }
}

// JAX names an entry "<module>-<hash>-cache" (older: without "-cache").
void CheckCache(const FlagQuestion& question, const FlagReport& report, Findings& findings) {
  const std::optional<std::string>& directory = question.environment.cache_directory;
  if (!question.look_at_files || !directory || directory->empty()) return;
  std::error_code error;
  const auto profile_time = fs::last_write_time(report.profile_path, error);
  const bool dated = !error && fs::is_regular_file(report.profile_path, error);
  uint64_t older = 0;
  std::string example;
  for (const fs::directory_entry& entry : fs::directory_iterator(*directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!IsFrameworkModule(name) || name.ends_with("-atime")) continue;
    std::error_code ignored;
    if (dated && entry.last_write_time(ignored) >= profile_time) continue;
    ++older;
    if (example.empty() || name < example) example = name;
  }
  if (older == 0) return;
  const std::string module = example.substr(0, example.find('-'));
  if (report.auto_pgle) {
    findings.Add(
        Kind::kNote, "cache",
        fmt::format("{} holds {} compiled modules, {} among them: JAX finds a "
                    "PGLE-optimized one by a key that does not hold the profile, so a stale "
                    "one is a hit for ever",
                    *directory, older, module),
        "empty the cache when the program's costs change", false);
  } else if (dated) {
    findings.Add(Kind::kIgnored, "cache",
                 fmt::format("{} holds {} compiled modules that are older than {}, {} among them: "
                             "JAX's key holds the profile's path, not its content, so one of them "
                             "may be loaded instead of a compile with this profile",
                             *directory, older, report.profile_path, module),
                 "empty the cache, or give the profile a new name", false);
  }
}

}  // namespace

bool FlagReport::profile_would_be_used() const {
  return (!profile_path.empty() || auto_pgle) &&
         std::none_of(findings.begin(), findings.end(),
                      [](const FlagFinding& finding) { return finding.kind == Kind::kIgnored; });
}

const char* FindingKindName(FlagFinding::Kind kind) {
  return kind == Kind::kIgnored ? "ignored" : kind == Kind::kHidden ? "hidden" : "note";
}

FlagReport InspectFlags(const FlagQuestion& question, const std::string& spool_directory) {
  FlagReport report;
  report.flags = question.flags;
  const JobEnvironment& environment = question.environment;
  const bool no_runs = environment.profiling_runs &&
                       environment.profiling_runs->find_first_not_of("0") == std::string::npos;
  report.auto_pgle = IsTrue(environment.enable_pgle);
  if (const XlaFlag* path = question.flags.Find(kPathFlag); path != nullptr) {
    report.profile_path = path->value.value_or("");
  }
  Findings findings{&report};
  CheckParsing(question.flags, findings);
  if (std::count_if(question.flags.flags.begin(), question.flags.flags.end(),
                    [](const XlaFlag& f) { return f.name == "--" + std::string(kPathFlag); }) > 1) {
    findings.Add(Kind::kNote, "given_twice",
                 fmt::format("--{} is given more than once; the last counts: {}", kPathFlag,
                             report.profile_path),
                 "give it once", true);
  }
  if (report.auto_pgle && !report.profile_path.empty()) {
    findings.Add(Kind::kIgnored, "auto_pgle_and_path",
                 "JAX_ENABLE_PGLE is on, and JAX's own profile goes before the path: " +
                     report.profile_path + " serves only until JAX has profiled",
                 "unset JAX_ENABLE_PGLE, or give no path", false);
  }
  if (report.auto_pgle && no_runs) {
    findings.Add(Kind::kIgnored, "no_profiling_runs",
                 "JAX_PGLE_PROFILING_RUNS=0 turns JAX_ENABLE_PGLE off", "set it to 3", false);
  }
  if (!report.profile_path.empty()) {
    CheckPath(question, report.profile_path, spool_directory, findings);
  } else if (!report.auto_pgle && report.findings.empty()) {
    const bool expects = IsTrue(environment.expect_pgle);
    findings.Add(expects ? Kind::kNote : Kind::kIgnored, "no_profile",
                 expects
                     ? "no profile is given; JAX expects PGLE-optimized executables in its cache"
                     : "no profile is asked for",
                 fmt::format("set --{}=FILE.pb, or JAX_ENABLE_PGLE=true", kPathFlag), true);
  }
  if (!report.profile_path.empty() || report.auto_pgle) CheckEvidence(question, findings);
  CheckCache(question, report, findings);
  return report;
}

}  // namespace pgle
