#include "trace/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace pgle {
namespace {

namespace fs = std::filesystem;

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool IsTraceName(const std::string& name) {
  return EndsWith(name, ".xplane.pb") || EndsWith(name, ".xplane.pb.zst") ||
         EndsWith(name, ".xplane.pb.gz");
}

// Of one trace that lies there both packed and not, the plain file: zstd and gzip may keep it.
std::vector<std::string> TracesIn(const fs::path& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (IsTraceName(entry.path().filename()) && !fs::is_directory(entry.path(), error)) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  const std::set<std::string> all(files.begin(), files.end());
  std::erase_if(files, [&](const std::string& file) {
    for (std::string_view packed : {".gz", ".zst"}) {
      if (!EndsWith(file, packed)) continue;
      const std::string plain = file.substr(0, file.size() - packed.size());
      if (all.count(plain) > 0 || (packed == ".zst" && all.count(plain + ".gz") > 0)) return true;
    }
    return false;
  });
  return files;
}

// jax.profiler names runs by the second: YYYY_MM_DD_HH_MM_SS sorts as time does.
bool IsTimeStamp(const std::string& name) {
  constexpr std::string_view kPattern = "0000_00_00_00_00_00";
  if (name.size() != kPattern.size()) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    if (kPattern[i] == '0' ? !isdigit(static_cast<unsigned char>(name[i])) : name[i] != '_') {
      return false;
    }
  }
  return true;
}

fs::file_time_type NewestTrace(const fs::path& run) {
  fs::file_time_type newest = fs::file_time_type::min();
  std::error_code error;
  for (const std::string& file : TracesIn(run)) {
    newest = std::max(newest, fs::last_write_time(file, error));
  }
  return newest;
}

// Runs with traces in them, oldest first: by name where all names are time stamps, else by the time
// of their newest file.
std::vector<fs::path> RunsIn(const fs::path& directory) {
  std::vector<fs::path> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (fs::is_directory(entry.path(), error) && !TracesIn(entry.path()).empty())
      runs.push_back(entry.path());
  }
  std::sort(runs.begin(), runs.end());
  if (!std::all_of(runs.begin(), runs.end(),
                   [](const fs::path& run) { return IsTimeStamp(run.filename()); })) {
    std::stable_sort(runs.begin(), runs.end(), [](const fs::path& a, const fs::path& b) {
      return NewestTrace(a) < NewestTrace(b);
    });
  }
  return runs;
}

}  // namespace

Result<std::vector<std::string>> FindTraceFiles(const std::string& path, const std::string& run,
                                                Diagnostics* diagnostics) {
  if (path == "-") return std::vector<std::string>{path};
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (error) {
      return Failed(path, "cannot be looked at: " + error.message(), "check its permissions");
    }
    return Failed(path, "does not exist", "give a log directory, a run directory or a trace file");
  }
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  if (fs::directory_iterator(path, error); error) {
    return Failed(path, "cannot be read: " + error.message(), "check its permissions");
  }

  fs::path profiles = fs::path(path) / "plugins" / "profile";
  if (!fs::is_directory(profiles, error)) profiles = path;
  const std::vector<std::string> own = TracesIn(path);
  if (!own.empty() && run.empty()) return own;
  const std::vector<fs::path> runs = RunsIn(profiles);
  if (!run.empty()) {
    for (const fs::path& candidate : runs) {
      if (candidate.filename() == run) return TracesIn(candidate);
    }
    std::string known;
    for (const fs::path& candidate : runs) known += " " + candidate.filename().string();
    return Failed(path, fmt::format("has no run '{}' with traces in it", run),
                  runs.empty() ? "no run there holds an .xplane.pb file" : "runs there:" + known);
  }
  if (runs.empty()) {
    return Failed(path, "holds no trace (*.xplane.pb, also .zst and .gz)",
                  "give the directory that pgle-capture -o or jax.profiler.start_trace was told");
  }
  if (runs.size() > 1) {
    diagnostics->Note(
        path,
        fmt::format("{} runs: taking the newest, {}", runs.size(), runs.back().filename().string()),
        "--run NAME takes another");
  }
  return TracesIn(runs.back());
}

}  // namespace pgle
