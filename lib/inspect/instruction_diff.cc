// Two compiles of one module, instruction by instruction.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hlo/scheduler_queries.h"
#include "inspect/hosts.h"

namespace pgle {
namespace {

using Json = nlohmann::json;

// What XLA added after scheduling stands under its own name.
std::string_view SchedulingName(const HloModule& module, uint32_t index) {
  const std::string_view name = module.SchedulerName(index);
  return name.empty() ? module.instruction(index).name : name;
}

// The instructions that run by themselves, by scheduling-time name.
std::map<std::string_view, const HloInstruction*> RunByThemselves(const HloModule& module) {
  std::map<std::string_view, const HloInstruction*> found;
  std::vector<uint32_t> pending = {module.entry()};
  std::set<uint32_t> seen = {module.entry()};
  while (!pending.empty()) {
    const uint32_t computation = pending.back();
    pending.pop_back();
    for (uint32_t i : module.computation(computation).instructions) {
      const HloInstruction& instruction = module.instruction(i);
      found.emplace(SchedulingName(module, i), &instruction);
      if (instruction.opcode != "while" && instruction.opcode != "conditional" &&
          instruction.opcode != "call") {
        continue;
      }
      for (uint32_t called : instruction.calls) {
        if (seen.insert(called).second) pending.push_back(called);
      }
    }
  }
  return found;
}

// The leaves of a JSON value as text, by path.
void Flatten(const Json& value, const std::string& path, std::map<std::string, std::string>* out) {
  if (!value.is_structured()) {
    (*out)[path] = value.is_string() ? value.get<std::string>() : value.dump();
    return;
  }
  for (const auto& item : value.items()) {
    Flatten(item.value(), path.empty() ? item.key() : path + "." + item.key(), out);
  }
}

std::string LastWord(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

// "block_m 128 -> 256, num_warps 4 -> 8"
std::string DiffConfigs(std::string_view reference, std::string_view config) {
  const Json a = Json::parse(reference, nullptr, false), b = Json::parse(config, nullptr, false);
  if (a.is_discarded() || b.is_discarded()) return "another backend_config";
  std::map<std::string, std::string> leaves_a, leaves_b;
  Flatten(a, "", &leaves_a);
  Flatten(b, "", &leaves_b);
  std::string text;
  const auto add = [&](const std::string& path, const std::string& from, const std::string& to) {
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", LastWord(path), from, to);
  };
  for (const auto& [path, value] : leaves_a) {
    const auto other = leaves_b.find(path);
    if (other == leaves_b.end())
      add(path, value, "none");
    else if (other->second != value)
      add(path, value, other->second);
  }
  for (const auto& [path, value] : leaves_b) {
    if (leaves_a.count(path) == 0) add(path, "none", value);
  }
  return text;
}

}  // namespace

std::vector<InstructionDifference> DiffInstructions(const HloModule& reference,
                                                    const HloModule& module) {
  // Of modules with one fingerprint, what was scheduled differs in names at most; opcodes and
  // queues are the schedule's own choice.
  const bool same =
      !module.fingerprint().empty() && module.fingerprint() == reference.fingerprint();
  const auto a = RunByThemselves(reference), b = RunByThemselves(module);
  std::vector<InstructionDifference> differences;
  for (const auto& [name, instruction] : b) {
    const auto other = a.find(name);
    if (other == a.end()) {
      if (!same || !instruction->scheduling_name.empty()) {
        differences.push_back({std::string(name), "only here"});
      }
      continue;
    }
    if (same) continue;
    if (other->second->opcode != instruction->opcode) {
      differences.push_back(
          {std::string(name), fmt::format("{} -> {}", other->second->opcode, instruction->opcode)});
      continue;
    }
    if (other->second->backend_config != instruction->backend_config) {
      std::string what = DiffConfigs(other->second->backend_config, instruction->backend_config);
      if (!what.empty()) differences.push_back({std::string(name), std::move(what)});
    }
  }
  for (const auto& [name, instruction] : a) {
    if (b.count(name) == 0 && (!same || !instruction->scheduling_name.empty())) {
      differences.push_back({std::string(name), "only in the reference"});
    }
  }
  return differences;
}

std::vector<std::string> CollectiveOrder(const HloModule& module) {
  std::vector<std::string> order;
  for (const SchedulerQuery& query : SchedulerQueries(module)) {
    if (query.kind == QueryKind::kCollective ||
        module.CollectiveIn(query.instruction) != kNoInstruction) {
      order.emplace_back(query.name);
    }
  }
  return order;
}

}  // namespace pgle
