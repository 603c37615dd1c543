#include <nlohmann/json.hpp>

#include "base/diagnostics_json.h"
#include "merge/report.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "pgle.merge.report/1";

Json OrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json ErrorJson(const Error& error) {
  return {{"where", error.where}, {"what", error.what}, {"hint", error.hint}};
}

Json InputJson(const MergeInput& input, InputKind kind) {
  Json json = {{"file", input.file}};
  if (kind == InputKind::kSamples) {
    json["processes"] = input.processes;
    return json;
  }
  json["sha256"] = input.sha256;
  json["entries"] = input.facts.entries;
  json["fingerprints"] = input.facts.fingerprints;
  json["bare_without_twin"] = input.facts.lone_bare;
  Json duplicates = Json::array();
  for (const DuplicateName& name : input.facts.duplicates) {
    duplicates.push_back({{"name", name.name},
                          {"entries", name.count},
                          {"xla_uses", input.facts.averages ? "average" : "last"},
                          {"xla_us", name.xla_us}});
  }
  json["duplicates"] = duplicates;
  return json;
}

Json DriftJson(const DriftReport& drift) {
  Json modules = Json::array();
  for (const ModuleDrift& module : drift.modules) {
    Json sides = Json::array();
    for (const DriftSide& side : module.sides) {
      sides.push_back({{"fingerprints", side.fingerprints}, {"processes", side.processes}});
    }
    modules.push_back({{"module", OrNull(module.module)},
                       {"is_drift", IsRefusable(module)},
                       {"sides", sides},
                       {"differing_instructions", module.instructions},
                       {"differing_by", OrNull(module.instructions_from)}});
  }
  return {{"checked_processes", drift.checked},
          {"unchecked_processes", drift.unchecked},
          {"modules", modules}};
}

Json SamplesJson(const SampleTotals& samples) {
  return {{"records", samples.records},
          {"executions", samples.executions},
          {"matched_executions", samples.matched},
          {"unmatched_executions", samples.unmatched},
          {"matched_us", ToMicroseconds(samples.plain)},
          {"removed_us", ToMicroseconds(samples.removed)}};
}

}  // namespace

std::string FormatMergeJson(const Merged& merged, const MergeContext& context) {
  const bool is_samples = merged.kind == InputKind::kSamples;
  Json report;
  report["schema"] = kSchema;
  report["version"] = context.version;
  report["refused"] = merged.refusal ? ErrorJson(*merged.refusal) : Json();
  report["profile"] = context.output.empty() ? Json()
                                             : Json{{"file", context.output},
                                                    {"sha256", context.output_sha256},
                                                    {"costs", merged.keyed.profile.costs.size()},
                                                    {"keys", ToString(merged.keyed.mode)}};
  report["also_written"] = context.also_written;
  report["inputs_are"] = is_samples ? "samples" : "profiles";
  report["statistic"] = OrNull(merged.statistic);
  report["collective_statistic"] = OrNull(merged.collective_statistic);
  report["processes"] = merged.processes;
  report["expected_processes"] =
      context.expected_processes == 0 ? Json() : Json(context.expected_processes);
  report["names_not_everywhere"] = merged.partial_names;
  report["samples"] = is_samples ? SamplesJson(merged.samples) : Json();
  report["drift"] = DriftJson(merged.drift);
  Json spreads = Json::array();
  for (const CostSpread& spread : merged.spreads) {
    spreads.push_back({{"name", spread.name},
                       {"min_us", spread.min_us},
                       {"min_process", spread.min_process},
                       {"max_us", spread.max_us},
                       {"max_process", spread.max_process}});
  }
  report["wide_spreads"] = spreads;
  Json inputs = Json::array();
  for (const MergeInput& input : merged.inputs) inputs.push_back(InputJson(input, merged.kind));
  report["inputs"] = inputs;
  Json skipped = Json::array();
  for (const Error& error : merged.skipped) {
    skipped.push_back({{"file", error.where}, {"reason", error.what}});
  }
  report["skipped"] = skipped;
  report["diagnostics"] = DiagnosticsJson(merged.diagnostics);
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
