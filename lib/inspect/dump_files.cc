#include "inspect/dump_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <tuple>

#include "io/input.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

bool ConsumeSuffix(std::string_view* text, std::string_view suffix) {
  if (text->size() < suffix.size() || text->substr(text->size() - suffix.size()) != suffix) {
    return false;
  }
  text->remove_suffix(suffix.size());
  return true;
}

bool ParseStem(std::string_view stem, DumpFile* file) {
  const size_t start = stem.find("module_");
  if (start == std::string_view::npos) return false;
  const char* const end = stem.data() + stem.size();
  const auto parsed = std::from_chars(stem.data() + start + 7, end, file->id);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != '.') return false;
  const std::string_view rest(parsed.ptr + 1, static_cast<size_t>(end - parsed.ptr - 1));
  // The point begins at its target, which holds a dot ("sm_9.0a_gpu_...", "gfx942_gpu_..."), or is
  // the last word.
  size_t dot = rest.rfind('.');
  for (std::string_view target : {"sm_", "gfx"}) {
    const size_t at = rest.rfind("." + std::string(target));
    if (at != std::string_view::npos) dot = at;
    if (rest.substr(0, target.size()) == target) dot = std::string_view::npos;
  }
  if (dot == std::string_view::npos) {
    file->point = rest;
    return true;
  }
  file->module = rest.substr(0, dot);
  file->point = rest.substr(dot + 1);
  return true;
}

// The quoted value behind `key: ` in a text proto.
std::string QuotedField(std::string_view text, std::string_view key) {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  at = text.find('"', at + key.size());
  if (at == std::string_view::npos) return "";
  const size_t end = text.find('"', at + 1);
  return end == std::string_view::npos ? "" : std::string(text.substr(at + 1, end - at - 1));
}

}  // namespace

Result<std::vector<DumpFile>> FindDumpFiles(const std::string& folder,
                                            const std::string& extension) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return Failed(folder, fs::exists(folder, error) ? "is not a folder" : "does not exist",
                  "give the folder of --xla_dump_to");
  }
  std::vector<DumpFile> files;
  fs::directory_iterator items(folder, error);
  if (error) return Failed(folder, "cannot be read: " + error.message());
  for (const auto& item : items) {
    const std::string file_name = item.path().filename();
    std::string_view stem = file_name;
    if (!ConsumeSuffix(&stem, ".zst")) ConsumeSuffix(&stem, ".gz");
    DumpFile file;
    file.path = item.path();
    if (ConsumeSuffix(&stem, extension) && ParseStem(stem, &file)) files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [](const DumpFile& a, const DumpFile& b) {
    return std::tie(a.id, a.module, a.point, a.path) < std::tie(b.id, b.module, b.point, b.path);
  });
  return files;
}

Result<std::map<int64_t, std::string>> ProfilePathsInDump(const std::string& folder,
                                                          const std::string& spool_directory) {
  std::map<int64_t, std::string> paths;
  for (const char* extension : {".debug_options", ".config.pbtxt"}) {
    PGLE_ASSIGN_OR_RETURN(const std::vector<DumpFile> files, FindDumpFiles(folder, extension));
    for (const DumpFile& file : files) {
      PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(file.path, spool_directory));
      std::string path = QuotedField(input.bytes(), "xla_gpu_pgle_profile_file_or_directory_path:");
      if (!path.empty()) paths.emplace(file.id, std::move(path));
    }
  }
  return paths;
}

}  // namespace pgle
