#include "inspect/dump_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "hlo/dump_folder.h"
#include "inspect/dump_files.h"
#include "inspect/read_profile.h"
#include "io/input.h"

namespace pgle {
namespace {

constexpr const char* kGiveLog = "give the log of the run with --log (TF_CPP_MIN_LOG_LEVEL=0)";

struct Compile {
  int64_t id = 0;
  std::string module;
  std::string profile;  // a filled .fdo_profile; empty: none
  std::string hlo;      // the optimized module
  bool has_profile_file = false;
};

Result<DumpEvidence> Read(const std::string& directory, const std::vector<Compile>& compiles,
                          const std::string& spool_directory) {
  DumpEvidence out;
  out.directory = directory;
  out.module = compiles.front().module;
  out.compiles = compiles.size();
  const Compile* last = nullptr;
  for (const Compile& compile : compiles) {
    out.profile_files += compile.has_profile_file ? 1 : 0;
    out.filled += compile.profile.empty() ? 0 : 1;
    if (last == nullptr || compile.id > last->id) last = &compile;
  }
  if (last->profile.empty()) return out;
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(last->profile, spool_directory));
  const auto profile = ParseFdoProfile(input.bytes(), last->profile);
  if (!profile.ok()) {
    out.damage = profile.error().what;
    return out;
  }
  if (last->hlo.empty()) return out;
  PGLE_ASSIGN_OR_RETURN(DumpFolder folder, DumpFolder::Open(last->hlo, spool_directory));
  PGLE_ASSIGN_OR_RETURN(const auto modules, folder.All());
  for (const auto& module : modules) {
    for (const HloInstruction& instruction : module->instructions()) {
      out.knows_scheduling_names |= !instruction.scheduling_name.empty();
    }
    out.coverage.push_back(CoverageOf(*module, *profile));
  }
  return out;
}

}  // namespace

Result<std::vector<DumpEvidence>> ReadDumpEvidence(const std::string& directory,
                                                   const std::string& spool_directory) {
  PGLE_ASSIGN_OR_RETURN(const auto profiles, FindDumpFiles(directory, ".fdo_profile"));
  PGLE_ASSIGN_OR_RETURN(const auto modules, FindDumpFiles(directory, ".hlo.pb"));
  if (profiles.empty() && modules.empty()) {
    return Failed(directory, "holds no .fdo_profile and no .hlo.pb of an XLA compile",
                  "name the folder given with --xla_dump_to");
  }
  std::map<std::pair<std::string, int64_t>, Compile> compiles;
  const auto compile_of = [&](const DumpFile& file) -> Compile& {
    Compile& compile = compiles[{file.module, file.id}];
    compile.module = file.module;
    compile.id = file.id;
    return compile;
  };
  for (const DumpFile& file : profiles) {
    Compile& compile = compile_of(file);
    compile.has_profile_file = true;
    std::error_code error;
    if (std::filesystem::file_size(file.path, error) > 0 && !error) compile.profile = file.path;
  }
  for (const DumpFile& file : modules) {
    if (file.point.find("gpu_after_optimizations") != std::string::npos) {
      compile_of(file).hlo = file.path;
    }
  }
  std::map<std::string, std::vector<Compile>> by_module;
  for (auto& [key, compile] : compiles) by_module[compile.module].push_back(compile);
  std::vector<DumpEvidence> out;
  for (const auto& [module, list] : by_module) {
    PGLE_ASSIGN_OR_RETURN(DumpEvidence evidence, Read(directory, list, spool_directory));
    out.push_back(std::move(evidence));
  }
  return out;
}

ModuleVerdict JudgeDump(const DumpEvidence& dump, double min_coverage) {
  ModuleVerdict out;
  out.module = dump.module;
  out.file = dump.directory;
  out.source = dump.filled > 0 ? "fdo_profile" : "";
  out.scheduled = dump.filled > 0;
  if (dump.filled == 0) {
    out.cause = dump.profile_files > 0
                    ? fmt::format(
                          "the client gave no profile with any of {} compiles; one given by "
                          "path does not show in the dump",
                          dump.profile_files)
                    : "the dump has no .fdo_profile files";
    out.fix = kGiveLog;
    return out;
  }
  if (!dump.damage.empty()) {
    out.verdict = Verdict::kNotUsed;
    out.cause = "the client's profile is none: " + dump.damage;
    out.fix = "give a serialized ProfiledInstructionsProto";
    return out;
  }
  if (dump.coverage.size() != 1) {
    out.cause =
        "the client gave a profile, but the optimized module of that compile is not in the "
        "dump, or the last compile had none";
    out.fix = "add --xla_dump_hlo_as_proto, or give the log with --log";
    return out;
  }
  const HloCoverage& coverage = dump.coverage.front();
  out.fingerprint = coverage.fingerprint;
  out.found = coverage.found_lookups;
  out.missing = coverage.missing.size();
  out.emulated = true;
  if (coverage.found_lookups == 0 || coverage.share(true) < min_coverage) {
    out.verdict = Verdict::kNotUsed;
    out.cause = coverage.found_lookups == 0
                    ? "the client's profile has none of the names that the module asks for"
                    : fmt::format(
                          "{:.1f} % of what the module asks for has a cost, {:.1f} % are "
                          "needed",
                          100 * coverage.share(true), 100 * min_coverage);
    out.fix = "`pgle-inspect coverage` says why names are missing";
  } else if (!dump.knows_scheduling_names) {
    out.cause =
        "the client gave a profile that covers the module, but this XLA may have scheduled "
        "without it (before 2025 it needs --xla_gpu_enable_latency_hiding_scheduler=true)";
    out.fix = kGiveLog;
  } else {
    out.verdict = Verdict::kUsed;
  }
  return out;
}

ModuleVerdict JudgeCoverageAlone(const HloCoverage& coverage, bool has_profile) {
  ModuleVerdict out;
  out.module = coverage.module;
  out.fingerprint = coverage.fingerprint;
  out.fix = kGiveLog;
  if (!has_profile) {
    out.cause = "the HLO alone does not show what it was scheduled by";
    return out;
  }
  out.found = coverage.found_lookups;
  out.missing = coverage.missing.size();
  out.emulated = true;
  if (coverage.found_lookups == 0 && coverage.undecided.empty()) {
    out.verdict = Verdict::kNotUsed;
    out.cause = "the profile has none of the names that the module asks for";
    out.fix = "`pgle-inspect coverage` says why names are missing";
  } else {
    out.cause = "the profile would serve this module, but nothing shows that XLA was given it";
  }
  return out;
}

}  // namespace pgle
