#include "profile/cost_profile.h"

#include <fmt/format.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <cmath>
#include <filesystem>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

#include "io/input.h"
#include "profiled_instructions.pb.h"

namespace pgle {
namespace {

enum class ProfileField : protozero::pbf_tag_type { kCosts = 1 };
enum class CostField : protozero::pbf_tag_type { kName = 1, kCostUs = 2 };
Result<CostProfile> ParseBinary(std::string_view bytes, const std::string& name) {
  CostProfile profile;
  try {
    protozero::pbf_message<ProfileField> file(bytes.data(), bytes.size());
    while (file.next()) {
      if (file.tag_and_type() !=
          protozero::tag_and_type(ProfileField::kCosts,
                                  protozero::pbf_wire_type::length_delimited)) {
        file.skip();
        continue;
      }
      InstructionCost& cost = profile.costs.emplace_back();
      protozero::pbf_message<CostField> entry = file.get_message();
      while (entry.next()) {
        switch (entry.tag()) {
          case CostField::kName:
            cost.name = entry.get_string();
            break;
          case CostField::kCostUs:
            cost.cost_us = entry.get_double();
            break;
          default:
            entry.skip();
        }
      }
    }
  } catch (const protozero::exception& e) {
    return Failed(name,
                  fmt::format("not a profile, or cut short, at entry {}: {}",
                              profile.costs.size() + 1, e.what()),
                  "extract the profile again");
  }
  return profile;
}

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = fmt::format("line {}, column {}: {}", line + 1, column + 1, message);
  }
  std::string text;
};

Result<CostProfile> ParseText(std::string_view bytes, const std::string& name) {
  proto::ProfiledInstructionsProto message;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(std::string(bytes), &message)) {
    return Failed(name, "not a profile in text form: " + error.text,
                  "the extension decides the format: .pbtxt is text, .pb is binary");
  }
  CostProfile profile;
  for (auto& cost : *message.mutable_costs()) {
    profile.costs.push_back({std::move(*cost.mutable_name()), cost.cost_us()});
  }
  return profile;
}

}  // namespace

Result<ProfileFormat> ProfileFormatFor(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension();
  if (extension == ".pb") return ProfileFormat::kBinary;
  if (extension == ".pbtxt") return ProfileFormat::kText;
  return UsageError(path, fmt::format("a profile cannot be named '*{}'", extension),
                    "XLA reads .pb (binary) and .pbtxt (text), and ignores any other name");
}

std::string SerializeProfile(const CostProfile& profile, ProfileFormat format) {
  std::string bytes;
  if (format == ProfileFormat::kText) {
    proto::ProfiledInstructionsProto message;
    for (const InstructionCost& cost : profile.costs) {
      auto* entry = message.add_costs();
      entry->set_name(cost.name);
      entry->set_cost_us(cost.cost_us);
    }
    google::protobuf::TextFormat::PrintToString(message, &bytes);
    return bytes;
  }
  protozero::pbf_builder<ProfileField> file(bytes);
  for (const InstructionCost& cost : profile.costs) {
    protozero::pbf_builder<CostField> entry(file, ProfileField::kCosts);
    entry.add_string(CostField::kName, cost.name);
    if (cost.cost_us != 0) entry.add_double(CostField::kCostUs, cost.cost_us);
  }
  return bytes;
}

Result<CostProfile> ParseProfile(std::string_view bytes, ProfileFormat format,
                                 const std::string& name) {
  PGLE_ASSIGN_OR_RETURN(CostProfile profile, format == ProfileFormat::kText
                                                 ? ParseText(bytes, name)
                                                 : ParseBinary(bytes, name));
  for (const InstructionCost& cost : profile.costs) {
    if (!std::isfinite(cost.cost_us) || cost.cost_us < 0) {
      return Failed(name, fmt::format("'{}' costs {} us", cost.name, cost.cost_us),
                    "a cost is a finite time of 0 or more: extract the profile again");
    }
  }
  return profile;
}

Result<CostProfile> ReadProfile(const std::string& path, const std::string& spool_directory) {
  std::filesystem::path plain = path;
  if (plain.extension() == ".zst" || plain.extension() == ".gz") plain.replace_extension();
  PGLE_ASSIGN_OR_RETURN(const ProfileFormat format, ProfileFormatFor(plain));
  PGLE_ASSIGN_OR_RETURN(const Input input, Input::Open(path, spool_directory));
  return ParseProfile(input.bytes(), format, input.name());
}

}  // namespace pgle
