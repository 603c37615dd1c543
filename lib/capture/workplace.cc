#include "capture/workplace.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "capture/recorder/control_page.h"
#include "capture/run_name.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrivate = ".pgle-capture";
constexpr int kTries = 100;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// <stem>_p<pid>, and what follows it.
bool IsOfStem(std::string_view name, std::string_view stem, std::string_view* rest) {
  if (!name.starts_with(stem) || !name.substr(stem.size()).starts_with("_p")) return false;
  name.remove_prefix(stem.size() + 2);
  const size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
  *rest = name.substr(end);
  return end > 0;
}

std::string TraceOfStem(const std::string& directory, const std::string& stem) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    std::string_view rest;
    if (IsOfStem(name, stem, &rest) && rest.starts_with(".xplane.pb")) return name;
  }
  return "";
}

// Other ranks make and remove the same directories at the same time.
std::error_code MakeDirectories(const std::string& path) {
  std::error_code error;
  for (int i = 0; i < kTries; ++i) {
    fs::create_directories(path, error);
    if (error != std::errc::no_such_file_or_directory) break;
  }
  return error;
}

std::string RunDirectory(const std::string& log_directory, const std::string& run) {
  return log_directory + "/plugins/profile/" + run;
}

std::string PrivateDirectory(const Workplace& place, int pid) {
  return fmt::format("{}/{}/{}/{}_p{}", place.log_directory, kPrivate, place.run, place.stem, pid);
}

// A name of which no other process has begun a run.
Result<std::string> TakeTimeName(const std::string& log_directory, const std::string& run) {
  const std::string parent = log_directory + "/" + kPrivate;
  std::time_t time = std::time(nullptr);
  std::string name = run;
  for (int i = 0; i < kTries; ++i) {
    if (const std::error_code error = MakeDirectories(parent); error) {
      return Failed(log_directory, "cannot be written: " + error.message(),
                    "give another directory with -o");
    }
    if (access(RunDirectory(log_directory, name).c_str(), F_OK) != 0 &&
        mkdir((parent + "/" + name).c_str(), 0777) == 0) {
      return name;
    }
    name = TimeName(++time);
  }
  return Failed(log_directory, "no name for a run is free", "give --run NAME");
}

}  // namespace

std::string Workplace::TraceFile(uint32_t pid, bool compress) const {
  return fmt::format("{}/{}.xplane.pb{}", run_directory, TraceStem(pid), compress ? ".zst" : "");
}

Result<Workplace> MakeWorkplace(const std::string& log_directory, const std::string& run,
                                const std::string& stem, int pid, bool may_rename) {
  Workplace place{log_directory, run, "", "", stem};
  if (PrivateDirectory(place, pid).size() >= sizeof(recorder::ControlPage::directory)) {
    return Failed(log_directory, "the path is too long", "give a shorter directory with -o");
  }
  if (may_rename) {
    PGLE_ASSIGN_OR_RETURN(place.run, TakeTimeName(log_directory, run));
  }
  place.run_directory = RunDirectory(log_directory, place.run);
  place.private_directory = PrivateDirectory(place, pid);
  if (const std::string trace = TraceOfStem(place.run_directory, stem); !trace.empty()) {
    return Failed(place.run_directory,
                  fmt::format("already holds a trace of this host and rank, {}", trace),
                  "give another --run NAME");
  }
  std::error_code error = MakeDirectories(place.private_directory);
  if (!error && access(place.private_directory.c_str(), W_OK | X_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  }
  if (!error && access(log_directory.c_str(), W_OK | X_OK) != 0) {
    error = std::error_code(errno, std::generic_category());
  }
  if (error) {
    RemovePrivateDirectory(place);
    return Failed(log_directory, "cannot be written: " + error.message(),
                  "give another directory with -o");
  }
  return place;
}

Result<Workplace> MakeTemporaryWorkplace(const std::string& temporary, const std::string& stem) {
  std::string path = fs::absolute(temporary).string() + "/pgle-capture-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Failed(path, fmt::format("cannot be made: {}", strerror(errno)), "set TMPDIR");
  }
  if (path.size() >= sizeof(recorder::ControlPage::directory)) {
    rmdir(path.c_str());
    return Failed(path, "the path is too long", "set TMPDIR to a shorter one");
  }
  return Workplace{"", "", "", path, stem};
}

void RemovePrivateDirectory(const Workplace& workplace) {
  std::error_code error;
  fs::remove_all(workplace.private_directory, error);
  if (workplace.log_directory.empty()) return;
  // rmdir refuses what other ranks still use.
  const fs::path run = fs::path(workplace.private_directory).parent_path();
  if (rmdir(run.c_str()) == 0) rmdir(run.parent_path().c_str());
}

Result<Workplace> WorkplaceOf(const std::string& private_directory) {
  fs::path path = fs::absolute(private_directory).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const fs::path run = path.parent_path();
  const std::string name = path.filename();
  const size_t mark = name.rfind("_p");
  if (run.parent_path().filename() != kPrivate || mark == name.npos || mark == 0 ||
      !IsDigits(std::string_view(name).substr(mark + 2))) {
    return Failed(private_directory, "does not lie where pgle-capture records",
                  "give LOGDIR/.pgle-capture/RUN/HOST_pPID, or a spill file with -o LOGDIR");
  }
  Workplace place;
  place.log_directory = run.parent_path().parent_path();
  place.run = run.filename();
  place.run_directory = RunDirectory(place.log_directory, place.run);
  place.private_directory = path;
  place.stem = name.substr(0, mark);
  return place;
}

}  // namespace pgle
