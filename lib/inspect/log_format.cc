#include "inspect/log_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace pgle {
namespace {

using nlohmann::ordered_json;

constexpr size_t kShownNames = 5;
constexpr size_t kShownStems = 5;

const char* SourceName(ProfileSource source) {
  switch (source) {
    case ProfileSource::kPath:
      return "path";
    case ProfileSource::kFdo:
      return "fdo_profile";
    case ProfileSource::kFdoBinary:
      return "fdo_profile_binary";
    case ProfileSource::kFdoText:
      return "fdo_profile_text";
    case ProfileSource::kNone:
      break;
  }
  return "none";
}

std::string CompileText(const LogCompile& compile, bool verbose) {
  std::string out;
  if (compile.profile_found || compile.found) {
    const std::string source = SourceText(compile);
    out = "    profile from " + (source.empty() ? "an unknown source" : source);
  } else {
    out = "    no profile";
    if (!compile.failure.empty()) out += ": " + compile.failure;
  }
  if (compile.found && compile.missing) {
    out += fmt::format(": {} look-ups found, {} instructions missing", *compile.found,
                       *compile.missing);
  } else if (compile.found) {
    out += fmt::format(": {} look-ups found, the rest is cut off", *compile.found);
  } else if (compile.profile_found) {
    out += ": no counts (nothing missing, or the accuracy checker is off)";
  }
  if (compile.times > 1) out += fmt::format(" ({} times)", compile.times);
  out += '\n';
  if (compile.mixed) out += "    the lines of several threads are mixed: counts may be another's\n";
  if (compile.not_applicable) out += "    XLA: the profile is likely not applicable, dropped\n";
  if (compile.may_not_apply) out += "    XLA: the profile may not apply\n";
  if (compile.discarded) out += "    the accuracy checker made this compile fail\n";
  if (!compile.fallback.empty())
    out += "    instructions without a cost: " + compile.fallback + "\n";
  if (!compile.missing_names.empty()) {
    const size_t shown = verbose ? compile.missing_names.size()
                                 : std::min(kShownNames, compile.missing_names.size());
    out += "    missing:";
    for (size_t i = 0; i < shown; ++i) out += " " + compile.missing_names[i];
    const uint64_t all = compile.missing.value_or(compile.missing_names.size());
    if (all > shown) {
      out += fmt::format(" and {} more{}", all - shown,
                         verbose ? " that the log does not name" : " (-v lists them)");
    }
    out += '\n';
  }
  return out;
}

std::string ModuleText(const LogModule& module, bool verbose) {
  std::string out = "  " + (module.name.empty() ? "(XLA names no module)" : module.name);
  for (const std::string& fingerprint : module.fingerprints) out += " " + fingerprint;
  out += '\n';
  for (const LogCompile& compile : module.compiles) out += CompileText(compile, verbose);
  if (module.compiles_left_out > 0) {
    out += fmt::format("    {} more compiles\n", module.compiles_left_out);
  }
  if (module.pgle_cache_hit) out += "    JAX: PGLE-optimized executable loaded from the cache\n";
  if (module.plain_cache_hit) out += "    JAX: executable loaded from the compilation cache\n";
  if (module.pgle_cache_miss) {
    out += "    JAX: no PGLE-optimized executable in the cache, the plain one is used\n";
  }
  if (module.pgle_cache_write)
    out += "    JAX: compiled although a cached executable was expected\n";
  return out;
}

std::string FaultsText(const LogProcess& process) {
  std::string out;
  for (const auto& [path, count] : process.missing_files) {
    if (path.ends_with('/')) {
      out += fmt::format("  {} has no file for {} fingerprints\n", path,
                         process.missing_fingerprints.size());
    } else {
      out += fmt::format("  {} does not exist ({} times)\n", path, count);
    }
  }
  for (const auto& [path, message] : process.unreadable_files) {
    out += fmt::format("  cannot parse {}{}{}\n", path.empty() ? "the profile" : path,
                       message.empty() ? "" : ": ", message);
  }
  if (process.unreadable_fdo > 0) out += "  cannot parse fdo_profile\n";
  for (const auto& [name, count] : process.cupti_errors) {
    out += fmt::format("  {} ({} times)\n", name, count);
  }
  if (process.empty_traces > 0) out += "  JAX profiled and got an empty trace\n";
  if (process.discarded > 0) out += "  the accuracy checker made a compile fail\n";
  if (!process.unknown_flags.empty()) {
    out += "  XLA ended at an unknown flag: " + process.unknown_flags + "\n";
  }
  return out;
}

std::string SmallModulesText(const LogProcess& process, bool verbose) {
  if (process.small_modules.empty()) return "";
  std::vector<std::pair<std::string, LogStem>> stems(process.small_modules.begin(),
                                                     process.small_modules.end());
  std::stable_sort(stems.begin(), stems.end(), [](const auto& a, const auto& b) {
    return a.second.compiles > b.second.compiles;
  });
  uint64_t compiles = 0;
  for (const auto& [stem, count] : stems) compiles += count.compiles;
  std::string out = fmt::format("  {} compiles of small modules ({} names, the autotuner's):\n",
                                compiles, stems.size());
  const size_t shown = verbose ? stems.size() : std::min(kShownStems, stems.size());
  for (size_t i = 0; i < shown; ++i) {
    out += fmt::format("    {} x {}: {} look-ups found, {} instructions missing\n",
                       stems[i].second.compiles, stems[i].first, stems[i].second.found,
                       stems[i].second.missing);
  }
  if (shown < stems.size()) {
    out += fmt::format("    and {} more names (-v lists them)\n", stems.size() - shown);
  }
  return out;
}

template <typename T>
ordered_json OrNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json CompileJson(const LogCompile& compile) {
  return {{"times", compile.times},
          {"source", SourceName(compile.source)},
          {"path", compile.path},
          {"profile_found", compile.profile_found},
          {"failure", compile.failure},
          {"found_lookups", OrNull(compile.found)},
          {"missing_instructions", OrNull(compile.missing)},
          {"missing_names", compile.missing_names},
          {"fallback", compile.fallback},
          {"scheduled", compile.scheduled},
          {"threads_mixed", compile.mixed},
          {"not_applicable", compile.not_applicable || compile.may_not_apply},
          {"compile_failed", compile.discarded}};
}

ordered_json ProcessJson(const LogProcess& process) {
  ordered_json modules = ordered_json::array(), small = ordered_json::array();
  for (const LogModule& module : process.modules) {
    ordered_json compiles = ordered_json::array();
    for (const LogCompile& compile : module.compiles) compiles.push_back(CompileJson(compile));
    modules.push_back({{"module", module.name},
                       {"fingerprints", module.fingerprints},
                       {"compiles", compiles},
                       {"compiles_left_out", module.compiles_left_out},
                       {"cache",
                        {{"pgle_hit", module.pgle_cache_hit},
                         {"plain_hit", module.plain_cache_hit},
                         {"pgle_miss", module.pgle_cache_miss},
                         {"unexpected_write", module.pgle_cache_write}}}});
  }
  for (const auto& [stem, count] : process.small_modules) {
    small.push_back({{"stem", stem},
                     {"compiles", count.compiles},
                     {"found_lookups", count.found},
                     {"missing_instructions", count.missing}});
  }
  ordered_json missing = ordered_json::array(), unreadable = ordered_json::array(),
               cupti = ordered_json::array();
  for (const auto& [path, count] : process.missing_files) {
    missing.push_back({{"path", path}, {"times", count}});
  }
  for (const auto& [path, message] : process.unreadable_files) {
    unreadable.push_back({{"path", path}, {"message", message}});
  }
  for (const auto& [name, count] : process.cupti_errors) {
    cupti.push_back({{"name", name}, {"times", count}});
  }
  return {{"file", process.file},
          {"process", process.label},
          {"start", process.attempt},
          {"shows_info", process.shows_info},
          {"accuracy_checker_spoke", process.checker_spoke},
          {"modules", modules},
          {"small_modules", small},
          {"missing_files", missing},
          {"missing_fingerprints", process.missing_fingerprints.size()},
          {"unreadable_files", unreadable},
          {"unreadable_fdo_profiles", process.unreadable_fdo},
          {"cupti_errors", cupti},
          {"empty_traces", process.empty_traces},
          {"failed_by_accuracy_checker", process.discarded},
          {"unknown_flags", process.unknown_flags}};
}

}  // namespace

std::string FormatLogText(const LogReport& report, bool verbose) {
  std::string out;
  for (const LogReport::File& file : report.files) {
    bool any = false;
    for (const LogProcess& process : report.processes) {
      if (process.file != file.name) continue;
      any = true;
      out += process.file;
      if (!process.label.empty()) out += fmt::format(" [{}]", process.label);
      if (process.attempt > 1) out += fmt::format(" (start {})", process.attempt);
      out += '\n';
      if (process.silent()) {
        out += process.shows_info
                   ? "  no line about a profile, though INFO lines are shown\n"
                   : "  no line about a profile, and no INFO line: set TF_CPP_MIN_LOG_LEVEL=0\n";
      }
      out += FaultsText(process);
      for (const LogModule& module : process.modules) out += ModuleText(module, verbose);
      out += SmallModulesText(process, verbose);
    }
    if (!any) {
      out += fmt::format("{}\n  no line of XLA about a profile: set TF_CPP_MIN_LOG_LEVEL=0\n",
                         file.name);
    }
  }
  return out;
}

std::string FormatLogJson(const LogReport& report) {
  ordered_json files = ordered_json::array(), processes = ordered_json::array();
  for (const LogReport::File& file : report.files) {
    files.push_back({{"file", file.name}, {"bytes", file.bytes}});
  }
  for (const LogProcess& process : report.processes) processes.push_back(ProcessJson(process));
  const ordered_json json = {
      {"schema", "pgle.inspect.log/1"}, {"files", files}, {"processes", processes}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
