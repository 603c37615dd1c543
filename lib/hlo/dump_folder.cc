#include "hlo/dump_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "io/input.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPoint = "after_optimizations";

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

// "module_0012.jit_step.sm_9.0_gpu_after_optimizations.hlo.pb" without what follows the point.
std::string_view StripFormat(std::string_view file_name, bool* is_proto) {
  for (std::string_view packed : {".zst", ".gz"}) {
    if (EndsWith(file_name, packed)) file_name.remove_suffix(packed.size());
  }
  *is_proto = EndsWith(file_name, ".hlo.pb");
  if (*is_proto) return file_name.substr(0, file_name.size() - 7);
  if (EndsWith(file_name, ".txt")) return file_name.substr(0, file_name.size() - 4);
  return {};
}

// The id and module name in "[prefix.]module_0012.jit_step.sm_9.0_gpu_after_optimizations".
void SplitStem(std::string_view stem, int64_t* id, std::string* name) {
  const size_t start = stem.find("module_");
  if (start == std::string_view::npos) return;
  const char* const digits = stem.data() + start + 7;
  const auto parsed = std::from_chars(digits, stem.data() + stem.size(), *id);
  if (parsed.ec != std::errc() || parsed.ptr == stem.data() + stem.size() || *parsed.ptr != '.') {
    *id = -1;
    return;
  }
  std::string_view rest = stem.substr(static_cast<size_t>(parsed.ptr + 1 - stem.data()));
  // The dump point begins at its target ("sm_9.0a_gpu_...", "gfx942_gpu_...") or is bare.
  for (std::string_view target : {".sm_", ".gfx"}) {
    const size_t at = rest.rfind(target);
    if (at != std::string_view::npos) rest = rest.substr(0, at);
  }
  const size_t point = rest.find("." + std::string(kPoint));
  if (point != std::string_view::npos) rest = rest.substr(0, point);
  *name = rest;
}

}  // namespace

Result<DumpFolder> DumpFolder::Open(const std::string& path, const std::string& spool_directory) {
  DumpFolder folder;
  folder.path_ = path;
  folder.spool_directory_ = spool_directory;
  std::error_code error;
  if (!fs::exists(path, error)) {
    return Failed(path, "does not exist", "give an XLA dump folder (--xla_dump_to) or an HLO file");
  }
  if (!fs::is_directory(path, error)) {
    Entry entry;
    entry.file = path;
    bool is_proto;
    const std::string file_name = fs::path(path).filename();
    SplitStem(StripFormat(file_name, &is_proto), &entry.id, &entry.name);
    folder.entries_.push_back(std::move(entry));
    PGLE_ASSIGN_OR_RETURN(const auto module, folder.Load(folder.entries_.front()));
    folder.entries_.front().name = module->name();
    return folder;
  }
  std::map<std::string, Entry> by_stem;  // proto before text
  for (const auto& item : fs::directory_iterator(path, error)) {
    const std::string file_name = item.path().filename();
    bool is_proto = false;
    const std::string stem(StripFormat(file_name, &is_proto));
    if (!EndsWith(stem, kPoint)) continue;
    Entry& entry = by_stem[stem];
    if (!entry.file.empty() && !is_proto) continue;
    entry.file = item.path();
    SplitStem(stem, &entry.id, &entry.name);
  }
  for (auto& [stem, entry] : by_stem) folder.entries_.push_back(std::move(entry));
  std::stable_sort(folder.entries_.begin(), folder.entries_.end(),
                   [](const Entry& a, const Entry& b) {
                     return std::tie(a.id, a.name) < std::tie(b.id, b.name);
                   });
  if (folder.entries_.empty()) {
    return Failed(path, "holds no optimized HLO module (*after_optimizations.hlo.pb or .txt)",
                  "run with XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\"");
  }
  return folder;
}

Result<std::shared_ptr<const HloModule>> DumpFolder::Load(Entry& entry) {
  if (entry.module == nullptr) {
    PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(entry.file, spool_directory_));
    PGLE_ASSIGN_OR_RETURN(HloModule module, ParseHlo(input.bytes(), input.name()));
    entry.module = std::make_shared<const HloModule>(std::move(module));
  }
  return entry.module;
}

Result<std::shared_ptr<const HloModule>> DumpFolder::Find(const std::string& name,
                                                          int64_t program_id) {
  Entry* found = nullptr;
  int namesakes = 0;
  for (Entry& entry : entries_) {
    if (entry.name != name) continue;
    ++namesakes;
    if (entry.id == program_id) return Load(entry);
    found = &entry;
  }
  if (namesakes != 1) return std::shared_ptr<const HloModule>();
  return Load(*found);
}

std::vector<std::string> DumpFolder::files() const {
  std::vector<std::string> files;
  for (const Entry& entry : entries_) files.push_back(entry.file);
  return files;
}

Result<std::vector<std::shared_ptr<const HloModule>>> DumpFolder::All() {
  std::vector<std::shared_ptr<const HloModule>> modules;
  for (Entry& entry : entries_) {
    PGLE_ASSIGN_OR_RETURN(auto module, Load(entry));
    modules.push_back(std::move(module));
  }
  return modules;
}

}  // namespace pgle
