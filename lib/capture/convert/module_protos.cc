#include "capture/convert/module_protos.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "capture/convert/trim_hlo.h"
#include "io/input.h"
#include "trace/wire.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kProtoModule = 1, kModuleName = 1, kModuleId = 5;

bool IsOptimizedProto(std::string_view name) {
  const size_t at = name.find("after_optimizations.hlo.pb");
  if (at == name.npos) return false;
  const std::string_view rest =
      name.substr(at + std::string_view("after_optimizations.hlo.pb").size());
  return rest.empty() || rest == ".zst" || rest == ".gz";
}

// False when the file's name says that it holds another module: "module_2667.jit_step...".
bool MayHold(const std::string& file, int64_t program_id) {
  const std::string name = fs::path(file).filename();
  const size_t at = name.find("module_");
  if (at == name.npos) return true;
  int64_t id = 0;
  const char* const digits = name.data() + at + 7;
  const auto parsed = std::from_chars(digits, name.data() + name.size(), id);
  return parsed.ec != std::errc() || id == program_id;
}

bool IsModule(std::string_view proto, const CapturedModule& module) {
  wire::Fields fields(proto);
  while (fields.Next()) {
    if (!fields.is_bytes(kProtoModule)) continue;
    std::string_view name;
    int64_t id = 0;
    wire::Fields inner(fields.bytes());
    while (inner.Next()) {
      if (inner.is_bytes(kModuleName)) name = inner.bytes();
      if (inner.is_varint(kModuleId)) id = static_cast<int64_t>(inner.integer());
    }
    return inner.ok() && name == module.name && id == module.program_id;
  }
  return false;
}

}  // namespace

void ModuleProtos::ListFiles() {
  is_listed_ = true;
  for (const std::string& folder : folders_) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      // A pipe would keep us waiting.
      std::error_code unknown;
      if (!it->is_regular_file(unknown)) continue;
      if (IsOptimizedProto(it->path().filename().string())) found.push_back(it->path());
    }
    std::sort(found.begin(), found.end());
    files_.insert(files_.end(), found.begin(), found.end());
  }
}

std::optional<std::string> ModuleProtos::Find(const CapturedModule& module,
                                              Diagnostics* diagnostics) {
  if (!is_listed_) ListFiles();
  for (const std::string& file : files_) {
    if (!MayHold(file, module.program_id)) continue;
    const Result<Input> input = Input::Open(file);
    if (!input.ok()) {
      diagnostics->Warn(input.error().where, input.error().what, input.error().hint);
      continue;
    }
    if (!IsModule(input->bytes(), module)) continue;
    Result<std::string> trimmed = TrimHloProto(input->bytes(), file);
    if (trimmed.ok()) return std::move(*trimmed);
    diagnostics->Warn(trimmed.error().where, trimmed.error().what, trimmed.error().hint);
  }
  return std::nullopt;
}

}  // namespace pgle
