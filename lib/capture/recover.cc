#include "capture/recover.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>

#include "capture/control.h"
#include "capture/run_name.h"
#include "capture/spill_queue.h"
#include "capture/workplace.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

// 12 of "p12.pgle".
uint32_t PidOf(const std::string& spill) {
  const std::string name = fs::path(spill).stem();
  uint32_t pid = 0;
  if (name.starts_with("p")) std::from_chars(name.data() + 1, name.data() + name.size(), pid);
  return pid;
}

std::vector<std::string> SpillsIn(const std::string& directory) {
  std::vector<std::string> spills;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::error_code unknown;
    if (!entry.is_regular_file(unknown)) continue;  // a pipe would keep us waiting
    if (entry.path().extension() == ".pgle") spills.push_back(entry.path());
  }
  std::sort(spills.begin(), spills.end());
  return spills;
}

// The launcher is the process that the directory is named after, on the host that it is named
// after.
Status CheckOver(const Workplace& place, const std::string& host) {
  const auto control = Control::Open(place.control_file());
  if (!control.ok() || control->page().launcher_alive == 0) return {};
  const std::string name = fs::path(place.private_directory).filename();
  const std::string clean = CleanName(host);
  if (place.stem != clean && !place.stem.starts_with(clean + "_r")) return {};
  const pid_t pid = std::atoi(name.substr(name.rfind("_p") + 2).c_str());
  if (pid <= 0 || kill(pid, 0) != 0) return {};
  return Failed(place.private_directory, fmt::format("process {} still captures there", pid),
                "wait for its end");
}

// Where traces of a file go that lies outside of any log directory.
Workplace PlaceAt(const std::string& log_directory, const std::string& host) {
  Workplace place;
  place.log_directory = log_directory;
  place.run = TimeName(std::time(nullptr));
  place.stem = CleanName(host);
  return place;
}

Result<Workplace> FindPlace(const RecoverOptions& options, const std::string& host, bool is_file) {
  const fs::path path = fs::absolute(options.path).lexically_normal();
  Result<Workplace> place = WorkplaceOf(is_file ? path.parent_path() : path);
  if (!place.ok()) {
    if (!is_file || options.log_directory.empty()) return place;
    place = PlaceAt(options.log_directory, host);
  }
  if (!options.log_directory.empty()) place->log_directory = options.log_directory;
  if (!options.run.empty()) {
    PGLE_ASSIGN_OR_RETURN(place->run, ChooseRunName(options.run, {}, 0));
  }
  place->run_directory = place->log_directory + "/plugins/profile/" + place->run;
  return place;
}

ProcessReport Convert(const Workplace& place, const std::string& spill, bool compress,
                      Diagnostics* diagnostics) {
  ProcessReport process;
  process.pid = PidOf(spill);
  ConvertOptions convert;
  convert.spill = spill;
  convert.output = place.TraceFile(process.pid, compress);
  convert.hostname = place.TraceStem(process.pid);
  convert.compress = compress;
  std::error_code error;
  if (fs::exists(place.hlo_folder(), error)) convert.hlo_folders.push_back(place.hlo_folder());
  Result<CaptureSummary> summary = TryConvertSpill(convert, diagnostics);
  if (summary.ok()) {
    process.summary = std::move(*summary);
    process.state = recorder::ProcessState::kClosed;
    for (const ModuleRuns& module : process.summary->modules) {
      process.module_runs += module.executions;
    }
  } else {
    process.error = std::move(summary.error());
  }
  return process;
}

// Nothing was written: what was made for it goes again. rmdir refuses what holds something.
void RemoveEmpty(const Workplace& place) {
  const fs::path run = place.run_directory;
  for (const fs::path& path : {run, run.parent_path(), run.parent_path().parent_path()}) {
    if (rmdir(path.c_str()) != 0) return;
  }
}

}  // namespace

Result<CaptureReport> Recover(const RecoverOptions& options, const std::string& host) {
  std::error_code error;
  if (!fs::exists(options.path, error)) {
    return Failed(options.path, "does not exist",
                  "give a spill file (*.pgle) or LOGDIR/.pgle-capture/RUN/HOST_pPID");
  }
  const bool is_file = !fs::is_directory(options.path, error);
  if (is_file && !fs::is_regular_file(options.path, error)) {
    return Failed(options.path, "is no file of records", "give a spill file (*.pgle)");
  }
  PGLE_ASSIGN_OR_RETURN(const Workplace place, FindPlace(options, host, is_file));
  if (!place.private_directory.empty()) PGLE_RETURN_IF_ERROR(CheckOver(place, host));
  const std::vector<std::string> spills =
      is_file ? std::vector<std::string>{options.path} : SpillsIn(options.path);
  if (spills.empty()) return Failed(options.path, "holds no spill file (*.pgle)");
  fs::create_directories(place.run_directory, error);
  if (error) {
    return Failed(place.run_directory, "cannot be made: " + error.message(),
                  "give another directory with -o");
  }
  CaptureReport report;
  report.log_directory = place.log_directory;
  report.run = place.run;
  report.run_directory = place.run_directory;
  report.host = host;
  for (const std::string& spill : spills) {
    report.processes.push_back(Convert(place, spill, options.compress, &report.diagnostics));
    ProcessReport& process = report.processes.back();
    if (process.error) report.failures.push_back(*process.error);
  }
  RemoveEmpty(place);
  if (!is_file && report.failures.empty()) RemovePrivateDirectory(place);
  return report;
}

}  // namespace pgle
