#include "merge/input_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "io/input.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

fs::path WithoutPacking(const std::string& path) {
  fs::path plain = path;
  if (plain.extension() == ".zst" || plain.extension() == ".gz") plain.replace_extension();
  return plain;
}

// Traces and HLO modules end in .pb as well.
bool BelongsToAMerge(const fs::path& path) {
  const fs::path plain = WithoutPacking(path);
  const std::string inner = plain.stem().extension();
  if (plain.filename().string().front() == '.') return false;
  if (plain.extension() == ".samples") return true;
  if (inner == ".xplane" || inner == ".hlo") return false;
  return plain.extension() == ".pb" || plain.extension() == ".pbtxt";
}

Result<std::vector<std::string>> FilesIn(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored) && BelongsToAMerge(it->path())) files.push_back(it->path());
  }
  if (error) return Failed(directory, "cannot list: " + error.message(), "check its permissions");
  if (files.empty()) {
    return Failed(directory, "holds neither profiles (.pb, .pbtxt) nor sample files (.samples)",
                  "name the files themselves");
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<std::string>> ReadList(const std::string& path, bool nul_separated,
                                          const std::string& spool_directory) {
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, spool_directory));
  std::string_view text = input.bytes();
  if (!nul_separated && text.find('\0') != std::string_view::npos) {
    return Failed(input.name(), "is not a list of names, one a line: it holds NUL bytes",
                  "for a list from find -print0, add -0; a profile is given by its file name");
  }
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = text.find(nul_separated ? '\0' : '\n');
    std::string_view name = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!nul_separated && !name.empty() && name.back() == '\r') name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
  }
  if (names.empty()) {
    return Failed(input.name(), "the list is empty",
                  "write a file name on each line, or check what made the list");
  }
  return names;
}

}  // namespace

InputKind InputKindOf(const std::string& path) {
  const std::string extension = WithoutPacking(path).extension();
  return extension == ".pb" || extension == ".pbtxt" ? InputKind::kProfiles : InputKind::kSamples;
}

Result<InputList> ResolveMergeInputs(const std::vector<std::string>& arguments, bool nul_separated,
                                     const std::string& spool_directory) {
  std::vector<std::string> names;
  bool stdin_read = false;
  for (const std::string& argument : arguments) {
    const bool is_stdin = argument == "-" || argument == "@-";
    if (!is_stdin && (argument.empty() || argument[0] != '@')) {
      names.push_back(argument);
      continue;
    }
    if (is_stdin && stdin_read) {
      return UsageError(argument, "standard input is named twice", "name it once");
    }
    stdin_read |= is_stdin;
    PGLE_ASSIGN_OR_RETURN(
        const std::vector<std::string> listed,
        ReadList(is_stdin ? "-" : argument.substr(1), nul_separated, spool_directory));
    names.insert(names.end(), listed.begin(), listed.end());
  }
  InputList list;
  for (const std::string& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      list.files.push_back(name);
      continue;
    }
    PGLE_ASSIGN_OR_RETURN(const std::vector<std::string> found, FilesIn(name));
    list.files.insert(list.files.end(), found.begin(), found.end());
  }
  if (list.files.empty()) return UsageError("", "no input", "name the files to merge");
  list.kind = InputKindOf(list.files.front());
  for (const std::string& file : list.files) {
    if (InputKindOf(file) == list.kind) continue;
    const bool profiles_first = list.kind == InputKind::kProfiles;
    const std::string& profile = profiles_first ? list.files.front() : file;
    const std::string& samples = profiles_first ? file : list.files.front();
    return UsageError(
        samples,
        fmt::format("is no profile by its name (.pb, .pbtxt), but {} is: profiles and "
                    "sample files cannot be merged together",
                    profile),
        "give one kind only");
  }
  return list;
}

std::string FindOutputAmong(const std::vector<std::string>& files, const std::string& output) {
  std::error_code error;
  if (output.empty() || output == "-" || !fs::exists(output, error)) return "";
  for (const std::string& file : files) {
    if (fs::equivalent(file, output, error)) return file;
  }
  return "";
}

}  // namespace pgle
