#include "merge/hlo_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <protozero/pbf_reader.hpp>

#include "hlo/module.h"
#include "io/input.h"

namespace pgle {
namespace {

namespace fs = std::filesystem;

// Fields of HloProto and below; see proto/hlo.proto.
constexpr protozero::pbf_tag_type kModule = 1, kComputations = 3, kInstructions = 2;
constexpr protozero::pbf_tag_type kName = 1, kMetadata = 7, kChannel = 26, kId = 35, kOperands = 36,
                                  kControlPredecessors = 37, kCalled = 38, kAttributes = 68;

bool IsIdentity(protozero::pbf_tag_type tag) {
  return tag == kMetadata || tag == kChannel || tag == kId || tag == kOperands ||
         tag == kControlPredecessors || tag == kCalled || tag == kAttributes;
}

void Mix(size_t value, size_t* hash) {
  *hash = *hash * 1099511628211U + value;
}

void MixField(protozero::pbf_reader& field, size_t* hash) {
  Mix(static_cast<size_t>(field.tag_and_type()), hash);
  switch (field.wire_type()) {
    case protozero::pbf_wire_type::varint:
      Mix(field.get_uint64(), hash);
      break;
    case protozero::pbf_wire_type::fixed64:
      Mix(field.get_fixed64(), hash);
      break;
    case protozero::pbf_wire_type::fixed32:
      Mix(field.get_fixed32(), hash);
      break;
    default: {
      const protozero::data_view view = field.get_view();
      Mix(std::hash<std::string_view>()({view.data(), view.size()}), hash);
    }
  }
}

void DigestInstruction(protozero::pbf_reader instruction, ModuleDigest* digest) {
  std::string name;
  size_t hash = 14695981039346656037U;
  while (instruction.next()) {
    if (instruction.tag() == kName) {
      name = instruction.get_string();
    } else if (IsIdentity(instruction.tag())) {
      instruction.skip();
    } else {
      MixField(instruction, &hash);
    }
  }
  digest->instructions.insert_or_assign(std::move(name), hash);
}

// Binary modules as they ran; of a folder those after optimization.
Result<std::vector<std::string>> HloFiles(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return Failed(path, "does not exist", "give an XLA dump folder or an .hlo.pb file");
  }
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.find("after_optimizations") != std::string::npos &&
        name.find(".hlo.pb") != std::string::npos) {
      files.push_back(it->path());
    }
  }
  if (files.empty()) {
    return Failed(path, "holds no binary HLO of an optimized module (*after_optimizations*.hlo.pb)",
                  "dump it with --xla_dump_to and --xla_dump_hlo_as_proto");
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<ModuleDigest> DigestHlo(std::string_view bytes, const std::string& name) {
  PGLE_ASSIGN_OR_RETURN(const HloModule parsed, ParseHloProto(bytes, name));
  ModuleDigest digest{parsed.name(), parsed.fingerprint(), {}};
  try {
    protozero::pbf_reader file(bytes.data(), bytes.size());
    while (file.next(kModule)) {
      protozero::pbf_reader module = file.get_message();
      while (module.next(kComputations)) {
        protozero::pbf_reader computation = module.get_message();
        while (computation.next(kInstructions)) {
          DigestInstruction(computation.get_message(), &digest);
        }
      }
    }
  } catch (const protozero::exception& e) {
    return Failed(name, fmt::format("not an HLO module, or cut short: {}", e.what()),
                  "dump it again");
  }
  return digest;
}

std::vector<std::string> DifferingInstructions(const ModuleDigest& a, const ModuleDigest& b) {
  std::vector<std::string> names;
  for (const auto& [name, hash] : a.instructions) {
    const auto it = b.instructions.find(name);
    if (it == b.instructions.end() || it->second != hash) names.push_back(name);
  }
  for (const auto& [name, hash] : b.instructions) {
    if (a.instructions.count(name) == 0) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::map<std::string, ModuleDigest>> FindModules(
    const std::vector<std::string>& paths, const std::vector<std::string>& fingerprints,
    const std::string& spool_directory) {
  std::map<std::string, ModuleDigest> found;
  for (const std::string& path : paths) {
    PGLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, HloFiles(path));
    for (const std::string& file : files) {
      PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(file, spool_directory));
      PGLE_ASSIGN_OR_RETURN(ModuleDigest digest, DigestHlo(input.bytes(), input.name()));
      if (std::find(fingerprints.begin(), fingerprints.end(), digest.fingerprint) !=
          fingerprints.end()) {
        found.try_emplace(digest.fingerprint, std::move(digest));
      }
    }
  }
  return found;
}

}  // namespace pgle
