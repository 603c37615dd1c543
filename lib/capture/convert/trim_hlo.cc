#include "capture/convert/trim_hlo.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "hlo/opcodes.h"
#include "trace/wire.h"
#include "trace/wire_encode.h"

namespace pgle {
namespace {

// Field numbers of XLA's hlo.proto.
constexpr uint32_t kProtoModule = 1;
constexpr uint32_t kModuleComputations = 3;
constexpr uint32_t kComputationInstructions = 2, kComputationProgramShape = 4, kComputationId = 5;
constexpr uint32_t kInstructionName = 1, kInstructionOpcode = 2, kInstructionMetadata = 7,
                   kInstructionCalls = 38, kInstructionBackendConfig = 43,
                   kInstructionFrontendAttributes = 68;

bool ReadVarints(std::string_view packed, std::unordered_set<uint64_t>* values) {
  const char* p = packed.data();
  const char* const end = p + packed.size();
  while (p < end) {
    uint64_t value;
    if (!wire::ReadVarint(p, end, value)) return false;
    values->insert(value);
  }
  return true;
}

// Copies the field that the walk stands at.
void AppendField(std::string* out, const wire::Fields& field) {
  const uint32_t number = field.field();
  if (field.is_varint(number)) {
    wire::AppendInteger(*out, number, field.integer());
  } else if (field.is_bytes(number)) {
    wire::AppendBytes(*out, number, field.bytes());
  } else if (field.is_fixed64(number)) {
    wire::AppendDouble(*out, number, field.real());
  }
}

std::string_view OpcodeOf(std::string_view instruction) {
  wire::Fields fields(instruction);
  while (fields.Next()) {
    if (fields.is_bytes(kInstructionOpcode)) return fields.bytes();
  }
  return {};
}

// JSON is copied and written by recursion. XLA's configs are four deep.
bool IsDeep(std::string_view json) {
  constexpr int kDeepest = 64;
  int depth = 0;
  bool is_text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') is_text = !is_text;
    if (is_text) {
      i += c == '\\';
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return true;
  }
  return false;
}

// Of a matrix product's config what its work is counted by; other configs as they are.
std::string TrimGemmConfig(std::string_view config) {
  if (IsDeep(config)) return std::string(config);
  const auto json = nlohmann::json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("gemm_backend_config")) return std::string(config);
  const nlohmann::json& gemm = json["gemm_backend_config"];
  nlohmann::ordered_json kept = nlohmann::ordered_json::object();
  for (const char* key :
       {"alpha_real", "alpha_imag", "beta", "dot_dimension_numbers", "epilogue"}) {
    if (gemm.is_object() && gemm.contains(key)) kept[key] = gemm[key];
  }
  return nlohmann::ordered_json{{"gemm_backend_config", kept}}.dump();
}

// Short names that no instruction of XLA's has.
std::string ShortName(uint64_t number) {
  std::string name = "_";
  for (; number > 0; number /= 36) name += "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
  return name;
}

class Trimmer {
 public:
  // False when the module is damaged.
  bool Module(std::string_view module, std::string* out) {
    if (!FindFusions(module)) return false;
    wire::Fields fields(module);
    std::string computation;
    while (fields.Next()) {
      if (!fields.is_bytes(kModuleComputations)) {
        AppendField(out, fields);
        continue;
      }
      computation.clear();
      if (!Computation(fields.bytes(), &computation)) return false;
      wire::AppendBytes(*out, kModuleComputations, computation);
    }
    return fields.ok();
  }

 private:
  bool FindFusions(std::string_view module) {
    wire::Fields fields(module);
    while (fields.Next()) {
      if (!fields.is_bytes(kModuleComputations)) continue;
      wire::Fields computation(fields.bytes());
      while (computation.Next()) {
        if (!computation.is_bytes(kComputationInstructions)) continue;
        if (OpcodeOf(computation.bytes()) != "fusion") continue;
        wire::Fields instruction(computation.bytes());
        while (instruction.Next()) {
          if (instruction.is_varint(kInstructionCalls)) fused_.insert(instruction.integer());
          if (instruction.is_bytes(kInstructionCalls) &&
              !ReadVarints(instruction.bytes(), &fused_)) {
            return false;
          }
        }
        if (!instruction.ok()) return false;
      }
      if (!computation.ok()) return false;
    }
    return fields.ok();
  }

  bool Computation(std::string_view bytes, std::string* out) {
    uint64_t id = 0;
    wire::Fields fields(bytes);
    while (fields.Next()) {
      if (fields.is_varint(kComputationId)) id = fields.integer();
    }
    const bool is_fused = fused_.count(id) != 0;
    std::string instruction;
    fields = wire::Fields(bytes);
    while (fields.Next()) {
      if (fields.is_bytes(kComputationProgramShape)) continue;
      if (!fields.is_bytes(kComputationInstructions)) {
        AppendField(out, fields);
        continue;
      }
      instruction.clear();
      if (!Instruction(fields.bytes(), is_fused, &instruction)) return false;
      wire::AppendBytes(*out, kComputationInstructions, instruction);
    }
    return fields.ok();
  }

  bool Instruction(std::string_view bytes, bool is_fused, std::string* out) {
    const std::string_view opcode = OpcodeOf(bytes);
    const bool is_plain = is_fused && !IsCollective(opcode) && opcode != "fusion";
    wire::Fields fields(bytes);
    while (fields.Next()) {
      if (fields.is_bytes(kInstructionBackendConfig)) {
        if (opcode == "while") AppendField(out, fields);
        if (opcode == "custom-call") {
          wire::AppendBytes(*out, kInstructionBackendConfig, TrimGemmConfig(fields.bytes()));
        }
        continue;
      }
      // Compilers of early 2024 left the fingerprint on the root.
      if (fields.is_bytes(kInstructionFrontendAttributes) &&
          fields.bytes().find("fingerprint_before_lhs") == std::string_view::npos) {
        continue;
      }
      if (is_plain && fields.is_bytes(kInstructionMetadata)) continue;
      if (is_plain && fields.is_bytes(kInstructionName)) {
        wire::AppendBytes(*out, kInstructionName, ShortName(++renamed_));
        continue;
      }
      // Empty messages (frontend attributes, say) say nothing.
      if (fields.is_bytes(fields.field()) && fields.bytes().empty()) continue;
      AppendField(out, fields);
    }
    return fields.ok();
  }

  std::unordered_set<uint64_t> fused_;  // computations that fusions call
  uint64_t renamed_ = 0;
};

}  // namespace

Result<std::string> TrimHloProto(std::string_view bytes, const std::string& name) {
  std::string out, module;
  wire::Fields fields(bytes);
  bool has_module = false;
  while (fields.Next()) {
    if (!fields.is_bytes(kProtoModule)) continue;
    module.clear();
    if (!Trimmer().Module(fields.bytes(), &module)) break;
    wire::AppendBytes(out, kProtoModule, module);
    has_module = true;
  }
  if (!fields.ok() || !has_module) {
    return Failed(name, "not a whole HloProto", "dump the module again");
  }
  return out;
}

}  // namespace pgle
