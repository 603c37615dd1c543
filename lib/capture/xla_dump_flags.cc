#include "capture/xla_dump_flags.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <vector>

#include "inspect/xla_flags.h"
#include "io/input.h"

namespace pgle {
namespace {

constexpr const char* kDumpTo = "xla_dump_to";
constexpr const char* kAsProto = "xla_dump_hlo_as_proto";
constexpr const char* kAutotune = "xla_gpu_dump_autotune_results_to";

// Where one of these is given XLA writes that form alone, else text (XLA: dump.cc).
constexpr std::array kForms = {"xla_dump_hlo_as_text",      "xla_dump_hlo_as_dot",
                               "xla_dump_hlo_as_html",      "xla_dump_hlo_as_url",
                               "xla_dump_hlo_as_long_text", "xla_dump_hlo_snapshots"};

bool IsOn(const XlaFlags& flags, const char* name) {
  const XlaFlag* flag = flags.Find(name);
  return flag != nullptr && (!flag->value || *flag->value == "true" || *flag->value == "1");
}

std::string ValueOf(const XlaFlags& flags, const char* name) {
  const XlaFlag* flag = flags.Find(name);
  return flag != nullptr && flag->value ? *flag->value : "";
}

// The dump flags that the user's lack.
std::string DumpFlags(const XlaFlags& flags, const std::string& wanted, XlaFlagsEdit* edit,
                      Diagnostics* diagnostics) {
  const std::string own = ValueOf(flags, kDumpTo);
  if (own == "-") {
    diagnostics->Warn("XLA_FLAGS",
                      "--xla_dump_to=- dumps to standard output: the run will lack HLO",
                      "leave it out, or name a folder");
    return "";
  }
  std::string added;
  if (own.empty()) {
    added += " " + FormatXlaFlag(kDumpTo, wanted);
    edit->hlo_folder = wanted;
  } else {
    std::error_code error;
    edit->hlo_folder = std::filesystem::absolute(own, error).lexically_normal();
  }
  if (!IsOn(flags, kAsProto)) {
    bool has_form = own.empty();  // a folder of ours needs no text
    for (const char* form : kForms) has_form = has_form || IsOn(flags, form);
    if (!has_form) added += fmt::format(" --{}", kForms[0]);
    added += fmt::format(" --{}", kAsProto);
  }
  return added;
}

}  // namespace

std::string FormatXlaFlag(const std::string& name, const std::string& value) {
  if (value.find_first_of(" \t\r\n\"'\\") == std::string::npos) {
    return fmt::format("--{}={}", name, value);
  }
  std::string quoted;
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return fmt::format("--{}=\"{}\"", name, quoted);
}

XlaFlagsEdit EditXlaFlags(const std::string& current, const XlaFlagsWanted& wanted,
                          Diagnostics* diagnostics) {
  XlaFlagsEdit edit;
  if (wanted.hlo_folder.empty() && wanted.autotune_file.empty()) return edit;
  const Result<XlaFlags> parsed = ReadXlaFlags(current);
  if (!parsed.ok()) {
    diagnostics->Warn("XLA_FLAGS", parsed.error().what, parsed.error().hint);
    return edit;
  }
  const XlaFlags& flags = *parsed;
  std::string text = current;
  if (!flags.file.empty()) {
    const auto file = Input::Open(flags.file);  // it was read a moment ago
    if (!file.ok()) return edit;
    text = file->bytes();
  }

  std::string added;
  if (!wanted.hlo_folder.empty()) {
    added += DumpFlags(flags, wanted.hlo_folder, &edit, diagnostics);
  }
  if (!wanted.autotune_file.empty()) {
    edit.autotune_file = ValueOf(flags, kAutotune);
    if (edit.autotune_file.empty()) {
      edit.autotune_file = wanted.autotune_file;
      added += " " + FormatXlaFlag(kAutotune, wanted.autotune_file);
    }
  }
  if (added.empty()) return edit;
  if (!flags.stopped_at.empty() || flags.unclosed_quote) {
    diagnostics->Warn("XLA_FLAGS",
                      flags.unclosed_quote
                          ? std::string("a quote is not closed")
                          : fmt::format("XLA reads as far as '{}', which does not start with '-'",
                                        flags.stopped_at),
                      "what is behind it has no effect; pgle-capture's own flags go in front");
    edit.value = added.substr(1) + " " + text;
  } else {
    edit.value = text + (text.empty() ? added.substr(1) : added);
  }
  return edit;
}

}  // namespace pgle
