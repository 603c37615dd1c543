// HLO text to HloModule: one pass, no grammar beyond brackets, quotes and commas, so that
// attributes and shapes of any XLA are passed over unread.
//
// The module equals the one read from the HloProto of the same dump, but for what the text lacks:
//  - ids;
//  - get-tuple-element instructions where XLA printed them compactly (--xla_dump_compact_gte, on in
//    2026): an operand `%while#3` stands for one of them, and becomes the operand `while` itself;
//  - the order of computations: newer XLA prints them in another order than it writes to the proto.
//    Inside a computation the order of instructions is the same;
//  - wrapped computations of async operations printed with --xla_syntax_sugar_async_ops: `%s = ...
//    reduce-scatter-start(...)` is read as an async-start that calls a computation made up here,
//    which holds one instruction `s.wrapped`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hlo/module.h"
#include "hlo/module_builder.h"
#include "hlo/opcodes.h"
#include "hlo/replica_groups.h"

namespace pgle {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kSpace = " \t\r\n";

// Behind the quote that closes the one at `at`; kNone where the text ends before.
size_t EndOfQuoted(std::string_view text, size_t at) {
  for (size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return kNone;
}

// Behind the bracket that closes the one at `at`; kNone where the text ends before.
size_t EndOfGroup(std::string_view text, size_t at) {
  size_t depth = 0;
  for (size_t i = at; i < text.size();) {
    switch (text[i]) {
      case '(':
      case '[':
      case '{':
        ++depth;
        ++i;
        break;
      case ')':
      case ']':
      case '}':
        ++i;
        if (--depth == 0) return i;
        break;
      case '"':
        i = EndOfQuoted(text, i);
        break;
      default:
        ++i;
    }
  }
  return kNone;
}

// The first of `stops` at or behind `at` that is outside of quotes and brackets, else the end of
// the text; kNone where a quote or bracket never closes.
size_t EndOfItem(std::string_view text, size_t at, std::string_view stops) {
  while (at < text.size() && stops.find(text[at]) == kNone) {
    switch (text[at]) {
      case '(':
      case '[':
      case '{':
        at = EndOfGroup(text, at);
        break;
      case '"':
        at = EndOfQuoted(text, at);
        break;
      default:
        ++at;
    }
  }
  return at;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == kNone) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// What the brackets around a group hold; empty where `text` is no group.
std::string_view Inside(std::string_view text) {
  if (text.empty() || std::string_view("([{").find(text[0]) == kNone) return {};
  const size_t end = EndOfGroup(text, 0);
  return end == kNone ? std::string_view() : text.substr(1, end - 2);
}

// Calls `each` for every item of a list with commas, trimmed; empty ones are left out.
template <typename Each>
void ForEachItem(std::string_view list, Each each) {
  for (size_t at = 0; at < list.size(); ++at) {
    const size_t end = std::min(EndOfItem(list, at, ","), list.size());
    const std::string_view item = Trim(list.substr(at, end - at));
    if (!item.empty()) each(item);
    at = end;
  }
}

// `%name`, `name`, `f32[2]{0} %name`, `/*index=5*/%name`, `%name#3`: the name.
std::string_view NameIn(std::string_view item) {
  item = item.substr(item.find_last_of(kSpace) + 1);
  const size_t comment = item.rfind("*/");
  if (comment != kNone) item.remove_prefix(comment + 2);
  if (!item.empty() && item[0] == '%') item.remove_prefix(1);
  return item.substr(0, item.find('#'));
}

int64_t Integer(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Undoes absl::CEscape.
std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c >= '0' && c <= '7') {
      unsigned code = 0;
      const size_t end = std::min(i + 3, text.size());
      for (; i < end && text[i] >= '0' && text[i] <= '7'; ++i) {
        code = code * 8 + static_cast<unsigned>(text[i] - '0');
      }
      --i;
      out += static_cast<char>(code);
    } else {
      out += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

// The value of `key` in `{key="value" other=1, ...}`; empty where there is none.
std::string QuotedValue(std::string_view group, std::string_view key) {
  const std::string_view list = Inside(group);
  size_t at = 0;
  while ((at = list.find_first_not_of(" ,\t\r\n", at)) < list.size()) {
    const size_t end = std::min(EndOfItem(list, at, " ,\t\r\n"), list.size());
    const std::string_view item = list.substr(at, end - at);
    at = end;
    if (item.size() < key.size() + 3 || item.substr(0, key.size()) != key) continue;
    const size_t quote = key.size() + 1;
    if (item[quote - 1] != '=' || item[quote] != '"') continue;
    const size_t close = EndOfQuoted(item, quote);
    if (close != kNone) return Unescape(item.substr(quote + 1, close - quote - 2));
  }
  return {};
}

std::vector<int64_t> Integers(std::string_view list) {
  std::vector<int64_t> values;
  ForEachItem(list, [&](std::string_view item) { values.push_back(Integer(item)); });
  return values;
}

// `mesh['a'=2,'b'=4] {'a','b':(1)2}`: groups span the axes, or parts of axes, named.
void ReadMesh(std::string_view value, HloInstruction* collective) {
  const size_t open = value.find('[');
  const size_t end = open == kNone ? kNone : EndOfGroup(value, open);
  if (end == kNone) return;
  std::vector<std::string_view> names;
  std::vector<int64_t> axis_sizes;
  bool is_row_major = true;
  ForEachItem(Inside(value.substr(open)), [&](std::string_view item) {
    const size_t equals = item.find('=');
    if (equals == kNone) return;
    if (item.substr(0, equals) == "device_ids") {
      is_row_major = false;
    } else {
      names.push_back(item.substr(0, equals));
      axis_sizes.push_back(Integer(item.substr(equals + 1)));
    }
  });
  int64_t size = 1;
  bool are_whole = true;
  std::vector<int64_t> grouped;
  ForEachItem(Inside(Trim(value.substr(end))), [&](std::string_view item) {
    const size_t colon = item.find(':');
    const size_t part = item.find(')');
    const auto name = std::find(names.begin(), names.end(), item.substr(0, colon));
    const auto axis = static_cast<size_t>(name - names.begin());
    int64_t factor = name == names.end() ? 0 : axis_sizes[axis];
    if (factor != 0 && colon != kNone && part != kNone) factor = Integer(item.substr(part + 1));
    if (__builtin_mul_overflow(size, factor, &size)) size = 0;
    are_whole &= colon == kNone;
    grouped.push_back(static_cast<int64_t>(axis));
  });
  collective->group_size = size;
  if (is_row_major && are_whole) collective->groups = MeshGroups(axis_sizes, grouped);
}

// `[4,2]<=[2,4]T(1,0)`: 4 groups of 2; the ids as an array of shape 2x4, transposed.
void ReadIota(std::string_view value, HloInstruction* collective) {
  const std::vector<int64_t> shape = Integers(Inside(value));
  if (shape.size() < 2) return;
  collective->group_size = shape[1];
  const size_t arrow = value.find("<=[");
  if (shape.size() != 2 || arrow == kNone) return;
  const std::string_view source = value.substr(arrow + 2);
  const size_t end = EndOfGroup(source, 0);
  if (end == kNone) return;
  const std::string_view transposed = source.substr(end);
  const std::vector<int64_t> perm = transposed.substr(0, 1) == "T"
                                        ? Integers(Inside(transposed.substr(1)))
                                        : std::vector<int64_t>();
  collective->groups = IotaGroups(shape[0], shape[1], Integers(Inside(source)), perm);
}

// `{{0,1},{2,3}}`, `[2,4]<=[8]`, or a mesh.
void ReadGroups(std::string_view value, HloInstruction* collective) {
  if (value.substr(0, 4) == "mesh") return ReadMesh(value, collective);
  if (value.substr(0, 1) == "[") return ReadIota(value, collective);
  ForEachItem(Inside(value), [&](std::string_view group) {
    std::vector<int64_t> ids = Integers(Inside(group));
    collective->group_size = std::max(collective->group_size, static_cast<int64_t>(ids.size()));
    collective->groups.push_back(std::move(ids));
  });
  collective->groups = Limited(std::move(collective->groups));
}

bool IsCallAttribute(std::string_view key) {
  static constexpr std::array<std::string_view, 10> kSet = {"calls",
                                                            "to_apply",
                                                            "body",
                                                            "condition",
                                                            "select",
                                                            "scatter",
                                                            "true_computation",
                                                            "false_computation",
                                                            "branch_computations",
                                                            "called_computations"};
  return std::find(kSet.begin(), kSet.end(), key) != kSet.end();
}

// "-start", "-update" or "-done" where the opcode is a generic async operation printed as its
// wrapped opcode; else empty.
std::string_view AsyncSuffix(std::string_view opcode) {
  if (IsLegacyCollectiveStart(opcode) || IsLegacyCollectiveDone(opcode)) return {};
  const size_t dash = opcode.rfind('-');
  if (dash == kNone || dash == 0) return {};
  const std::string_view suffix = opcode.substr(dash);
  if (suffix != "-start" && suffix != "-update" && suffix != "-done") return {};
  const std::string_view wrapped = opcode.substr(0, dash);
  return wrapped == "async" || wrapped == "copy" ? std::string_view() : suffix;
}

class TextParser {
 public:
  TextParser(std::string_view text, const std::string& name, HloDetail detail)
      : text_(text), name_(name), detail_(detail) {}

  Result<HloModule> Parse() {
    if (!ParseHeader()) return Fault();
    while (SkipSpace(), pos_ < text_.size()) {
      if (SkipTable()) continue;
      if (!ParseComputation()) return Fault();
    }
    for (const Reference& call : calls_) {
      const auto found = by_computation_name_.find(call.name);
      if (found == by_computation_name_.end()) {
        Fail(call.at, fmt::format("no computation is called '{}'", Shown(call.name)));
        return Fault();
      }
      builder_.instruction(call.instruction).calls.push_back(found->second);
    }
    return builder_.Finish(name_);
  }

 private:
  struct Reference {
    uint32_t instruction;
    std::string_view name;
    size_t at;
  };

  static std::string_view Shown(std::string_view name) { return name.substr(0, 80); }

  bool Fail(size_t at, std::string what) {
    fault_at_ = at;
    fault_ = std::move(what);
    return false;
  }

  Error Fault() const {
    const std::string_view before = text_.substr(0, fault_at_);
    return Failed(
        name_,
        fmt::format("line {}: {}", 1 + std::count(before.begin(), before.end(), '\n'), fault_),
        "give a file *_gpu_after_optimizations.txt of an XLA dump, whole and unedited");
  }

  bool At(std::string_view token) const { return text_.substr(pos_, token.size()) == token; }

  // Over blanks and /* comments */; over line ends and // comments too where `lines`.
  void Skip(bool lines) {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))
        ++pos_;
      else if (c == '/' && At("/*"))
        pos_ = After("*/");
      else if (c == '/' && lines && At("//"))
        pos_ = After("\n");
      else
        return;
    }
  }
  void SkipSpace() { Skip(true); }

  size_t After(std::string_view token) const {
    const size_t found = text_.find(token, pos_ + 2);
    return found == kNone ? text_.size() : found + token.size();
  }

  bool Consume(char c) {
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  // A keyword with a blank behind it.
  bool ConsumeWord(std::string_view word) {
    const size_t end = pos_ + word.size();
    if (!At(word) || end >= text_.size() || kSpace.find(text_[end]) == kNone) return false;
    pos_ = end;
    SkipSpace();
    return true;
  }

  // Up to a blank or punctuation; may be empty.
  std::string_view ReadWord() {
    Consume('%');
    const size_t end = std::min(text_.find_first_of(" \t\r\n=,(){}", pos_), text_.size());
    const std::string_view word = text_.substr(pos_, end - pos_);
    pos_ = end;
    return word;
  }

  // `, key=value` again and again, to the end of the line (a comma carries over to the next line).
  template <typename Each>
  bool ReadAttributes(Each each) {
    while (Skip(false), Consume(',')) {
      SkipSpace();
      const size_t end = EndOfItem(text_, pos_, ",\n}");
      if (end == kNone) return Fail(pos_, "a quote or bracket never closes");
      const std::string_view item = text_.substr(pos_, end - pos_);
      pos_ = end;
      const size_t equals = item.find('=');
      if (equals != kNone) each(Trim(item.substr(0, equals)), Trim(item.substr(equals + 1)));
    }
    if (pos_ >= text_.size() || text_[pos_] == '\n' || text_[pos_] == '}' || At("//")) return true;
    return Fail(pos_, fmt::format("expected a comma or the end of the line, not '{}'",
                                  text_.substr(pos_, 1)));
  }

  bool ParseHeader() {
    SkipSpace();
    if (!ConsumeWord("HloModule")) return Fail(pos_, "HLO text starts with 'HloModule'");
    builder_.SetName(ReadWord());
    return ReadAttributes([&](std::string_view key, std::string_view value) {
      if (key == "is_scheduled" && value == "true") builder_.SetScheduled();
      if (key == "frontend_attributes") {
        builder_.SetFingerprint(QuotedValue(value, "fingerprint_before_lhs"));
      }
    });
  }

  // The tables of source lines between the header and the computations: a title, then rows that
  // start with a number.
  bool SkipTable() {
    const size_t end = std::min(text_.find('\n', pos_), text_.size());
    const std::string_view line = Trim(text_.substr(pos_, end - pos_));
    if (line != "FileNames" && line != "FunctionNames" && line != "FileLocations" &&
        line != "StackFrames" && !(line[0] >= '0' && line[0] <= '9')) {
      return false;
    }
    pos_ = end;
    return true;
  }

  // `ENTRY %name (parameters) -> shape {`, instructions, `}`.
  bool ParseComputation() {
    const size_t start = pos_;
    const bool is_entry = ConsumeWord("ENTRY");
    const std::string_view name = ReadWord();
    SkipSpace();
    if (pos_ < text_.size() && text_[pos_] == '(') {
      if ((pos_ = EndOfGroup(text_, pos_)) == kNone) return Fail(start, "'(' never closes");
      SkipSpace();
    }
    if (At("->")) {
      pos_ += 2;
      SkipSpace();
      if ((pos_ = EndOfItem(text_, pos_, kSpace)) == kNone) {
        return Fail(start, "a bracket never closes");
      }
      SkipSpace();
    }
    if (name.empty() || !Consume('{')) {
      return Fail(start, "expected a computation: name (parameters) -> shape {");
    }
    const uint32_t index = builder_.AddComputation(name);
    if (!by_computation_name_.emplace(name, index).second) {
      return Fail(start, fmt::format("a second computation is called '{}'", Shown(name)));
    }
    if (is_entry) builder_.SetEntry(index);
    operands_.clear();
    while (SkipSpace(), !Consume('}')) {
      if (pos_ >= text_.size()) {
        return Fail(pos_, fmt::format("the text ends inside computation '{}'", Shown(name)));
      }
      if (!ParseInstruction(index, is_entry)) return false;
    }
    for (const Reference& operand : operands_) {
      const auto found = by_name_.find(operand.name);
      if (found == by_name_.end() || builder_.instruction(found->second).computation != index) {
        return Fail(operand.at, fmt::format("operand '{}' is not in computation '{}'",
                                            Shown(operand.name), Shown(name)));
      }
      builder_.instruction(operand.instruction).operands.push_back(found->second);
    }
    HloComputation& computation = builder_.computation(index);
    if (computation.root == kNoInstruction && !computation.instructions.empty()) {
      computation.root = computation.instructions.back();
    }
    return ReadAttributes([](std::string_view, std::string_view) {});
  }

  // `ROOT %name = shape opcode(operands), attributes`.
  bool ParseInstruction(uint32_t computation, bool is_entry) {
    const size_t start = pos_;
    HloInstruction instruction;
    instruction.computation = computation;
    const bool is_root = ConsumeWord("ROOT");
    const std::string_view name = ReadWord();
    SkipSpace();
    if (name.empty() || !Consume('=')) {
      return Fail(start, "expected an instruction: name = shape opcode(operands)");
    }
    SkipSpace();
    if ((pos_ = EndOfItem(text_, pos_, kSpace)) == kNone) {
      return Fail(start,
                  fmt::format("the shape of '{}' has a bracket that never closes", Shown(name)));
    }
    SkipSpace();
    std::string_view opcode = ReadWord();
    if (opcode.empty() || pos_ >= text_.size() || text_[pos_] != '(') {
      return Fail(start, fmt::format("expected an opcode and '(' in '{}'", Shown(name)));
    }
    const size_t end = EndOfGroup(text_, pos_);
    if (end == kNone) {
      return Fail(start, fmt::format("the operands of '{}' never end", Shown(name)));
    }
    const std::string_view operands = text_.substr(pos_ + 1, end - pos_ - 2);
    pos_ = end;

    std::vector<std::string_view> calls;
    std::string_view fingerprint_in;
    const bool read = ReadAttributes([&](std::string_view key, std::string_view value) {
      if (key == "metadata") {
        instruction.scheduling_name = builder_.Intern(QuotedValue(value, "scheduling_name"));
      } else if (key == "frontend_attributes") {
        fingerprint_in = value;
      } else if (key == "backend_config" && detail_ == HloDetail::kBackendConfigs) {
        instruction.backend_config = builder_.Intern(value);
      } else if (key == "replica_groups") {
        ReadGroups(value, &instruction);
      } else if (key == "source_target_pairs") {
        ForEachItem(Inside(value), [&](std::string_view pair) {
          const std::string_view ids = Inside(pair);
          const size_t comma = std::min(ids.find(','), ids.size());
          instruction.source_target_pairs.push_back(
              {Integer(ids.substr(0, comma)),
               Integer(Trim(ids.substr(std::min(comma + 1, ids.size()))))});
        });
      } else if (IsCallAttribute(key)) {
        const bool is_list = !value.empty() && value[0] == '{';
        // XLA prints the condition of a while first and holds the body first.
        const auto where = opcode == "while" && key == "body" ? calls.begin() : calls.end();
        if (!is_list)
          calls.insert(where, NameIn(value));
        else
          ForEachItem(Inside(value), [&](std::string_view c) { calls.push_back(NameIn(c)); });
      }
    });
    if (!read) return false;
    if (is_root && is_entry) {
      const std::string fingerprint = QuotedValue(fingerprint_in, "fingerprint_before_lhs");
      if (!fingerprint.empty()) builder_.SetRootFingerprint(fingerprint);
    }

    instruction.name = builder_.Intern(name);
    const std::string_view suffix = AsyncSuffix(opcode);
    uint32_t wrapped = kNoInstruction;
    if (suffix == "-start") {
      wrapped = AddWrapped(opcode.substr(0, opcode.size() - suffix.size()), &instruction);
    }
    instruction.opcode =
        builder_.Intern(suffix.empty() ? std::string(opcode) : fmt::format("async{}", suffix));
    const uint32_t index = builder_.AddInstruction(std::move(instruction));
    if (!by_name_.emplace(name, index).second) {
      return Fail(start, fmt::format("a second instruction is called '{}'", Shown(name)));
    }
    if (is_root) builder_.computation(computation).root = index;
    const uint32_t caller = wrapped == kNoInstruction ? index : wrapped;
    for (std::string_view call : calls) calls_.push_back({caller, call, start});
    if (opcode != "parameter" && opcode != "constant") {
      ForEachItem(operands, [&](std::string_view operand) {
        operands_.push_back({index, NameIn(operand), start});
      });
    }
    return true;
  }

  // Makes the computation that `start`, an async-start printed as its wrapped opcode, calls. What
  // the text says of the operation goes to the wrapped instruction, whose index is returned.
  uint32_t AddWrapped(std::string_view opcode, HloInstruction* start) {
    const std::string name = fmt::format("{}.wrapped", start->name);
    const uint32_t computation = builder_.AddComputation(name);
    HloInstruction wrapped;
    wrapped.name = builder_.Intern(name);
    wrapped.opcode = builder_.Intern(opcode);
    wrapped.computation = computation;
    std::swap(wrapped.group_size, start->group_size);
    std::swap(wrapped.groups, start->groups);
    std::swap(wrapped.source_target_pairs, start->source_target_pairs);
    start->calls.push_back(computation);
    const uint32_t index = builder_.AddInstruction(std::move(wrapped));
    builder_.computation(computation).root = index;
    return index;
  }

  const std::string_view text_;
  const std::string& name_;
  const HloDetail detail_;
  size_t pos_ = 0;
  size_t fault_at_ = 0;
  std::string fault_;
  HloModuleBuilder builder_;
  std::vector<Reference> operands_;  // of the computation being read
  std::vector<Reference> calls_;
  std::unordered_map<std::string_view, uint32_t> by_name_, by_computation_name_;
};

}  // namespace

Result<HloModule> ParseHloText(std::string_view text, const std::string& name, HloDetail detail) {
  return TextParser(text, name, detail).Parse();
}

}  // namespace pgle
