#include "capture/convert/range_meanings.h"

#include "capture/convert/annotation.h"

namespace pgle {
namespace {

constexpr int kDeepestStack = 1024;  // beyond it the parents form a ring: damage

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

RangeMeanings::RangeMeanings(const Recording& spill)
    : texts_(spill.strings.size()), meanings_(std::max<size_t>(spill.ranges.size(), 1)) {
  for (uint32_t i = 0; i < texts_.size(); ++i) ReadText(i, spill.strings[i]);

  std::vector<uint32_t> op_strings(meanings_.size(), kNone);
  std::unordered_map<uint32_t, uint32_t> home;  // of an op's text: its module; kNone if several
  std::vector<uint32_t> homeless;
  for (uint32_t range = 1; range < meanings_.size(); ++range) {
    Meaning meaning;
    uint32_t op_string = kNone;
    bool is_compile = false;
    int depth = 0;
    for (uint32_t at = range; at != 0 && at < meanings_.size() && depth < kDeepestStack; ++depth) {
      const uint32_t string = spill.ranges[at].string;
      at = spill.ranges[at].parent;
      if (string >= texts_.size()) continue;
      const Text& text = texts_[string];
      if (text.is_op && op_string == kNone) op_string = string;
      if (text.is_module && meaning.module == kNone) meaning.module = text.module;
      is_compile |= text.is_compile;
    }
    if (is_compile) continue;
    meanings_[range] = meaning;
    op_strings[range] = op_string;
    if (op_string == kNone) continue;
    if (meaning.module == kNone) {
      homeless.push_back(range);
      continue;
    }
    const auto [it, added] = home.try_emplace(op_string, meaning.module);
    if (!added && it->second != meaning.module) it->second = kNone;
  }
  for (uint32_t range : homeless) {
    const auto it = home.find(op_strings[range]);
    if (it != home.end()) meanings_[range].module = it->second;
  }
  for (uint32_t range = 1; range < meanings_.size(); ++range) {
    Meaning& meaning = meanings_[range];
    const uint32_t string = op_strings[range];
    if (meaning.module == kNone || string == kNone) continue;
    meaning.op = OpFor(meaning.module, spill.strings[string]);
  }
}

void RangeMeanings::ReadText(uint32_t string, std::string_view text) {
  Text& read = texts_[string];
  if (StartsWith(text, "XlaCompile")) {
    read.is_compile = true;
    return;
  }
  const Annotation annotation = ParseAnnotation(text);
  const std::string_view module = annotation.Find("hlo_module");
  if (StartsWith(annotation.name, "XlaModule") && !module.empty()) {
    const int64_t program_id = ParseInteger(annotation.Find("program_id")).value_or(0);
    const auto [it, added] =
        module_ids_.try_emplace({std::string(module), program_id}, modules_.size());
    if (added) modules_.push_back({std::string(module), program_id});
    read.is_module = true;
    read.module = it->second;
    return;
  }
  read.is_op = !annotation.Find("hlo_op").empty();
}

uint32_t RangeMeanings::OpFor(uint32_t module, std::string_view text) {
  const Annotation annotation = ParseAnnotation(text);
  CapturedOp op;
  op.module = module;
  op.name = annotation.Find("hlo_op");
  op.op_name = annotation.Find("name");
  op.unique_id = ParseInteger(annotation.Find("unique_hlo_op_id")).value_or(0);
  const auto [it, added] = op_ids_.try_emplace({module, op.name}, ops_.size());
  if (added) ops_.push_back(std::move(op));
  return it->second;
}

uint32_t RangeMeanings::ModuleOfString(uint32_t string) const {
  return string < texts_.size() ? texts_[string].module : kNone;
}

}  // namespace pgle
