#include "io/output_set.h"

#include <algorithm>
#include <filesystem>

namespace pgle {
namespace {

// The file behind a name, links followed; the name itself where there is none yet.
std::string Target(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : resolved.string();
}

}  // namespace

Status OutputSet::Stage(const std::string& path, std::string_view content) {
  if (path == "-") {
    standard_output_ += content;
    return {};
  }
  PGLE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  PGLE_RETURN_IF_ERROR(file.Write(content));
  files_.push_back(std::move(file));
  return {};
}

Status OutputSet::Commit() {
  if (!standard_output_.empty()) {
    PGLE_RETURN_IF_ERROR(WriteFileAtomically("-", standard_output_));
  }
  for (AtomicFile& file : files_) PGLE_RETURN_IF_ERROR(file.Commit());
  return {};
}

Status CheckOutputs(const std::vector<std::string>& outputs,
                    const std::vector<std::string>& inputs) {
  std::vector<std::string> taken, read;
  for (const std::string& input : inputs) {
    if (input != "-") read.push_back(Target(input));
  }
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    const std::string target = output == "-" ? output : Target(output);
    if (std::find(read.begin(), read.end(), target) != read.end()) {
      return UsageError(output, "is an input: writing it would destroy it", "name another file");
    }
    if (std::find(taken.begin(), taken.end(), target) != taken.end()) {
      return UsageError(output, "is named for two outputs", "name a file for each");
    }
    taken.push_back(target);
  }
  return {};
}

}  // namespace pgle
