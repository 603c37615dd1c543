#include <nlohmann/json.hpp>

#include "base/diagnostics_json.h"
#include "base/sha256.h"
#include "extract/report.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "pgle.extract.report/1";

Json CoverageJson(const ModuleCoverage& coverage, bool strict) {
  if (!coverage.known) return nullptr;
  Json missing = Json::array();
  for (const MissingInstruction& instruction : coverage.missing) {
    missing.push_back({{"name", instruction.name}, {"reason", ToString(instruction.reason)}});
  }
  return {{"by_count", coverage.by_count(strict)},
          {"by_device_time", coverage.by_time(strict)},
          {"found_instructions", coverage.found},
          {"xla_found_lookups", coverage.xla_found},
          {"xla_missing_instructions", coverage.xla_missing},
          {"missing", missing},
          {"left_to_xla", coverage.left_to_xla}};
}

Json ModuleJson(const ModuleReport& module, const ReportContext& context) {
  Json costs = {
      {"measured", 0}, {"async_pair", 0}, {"no_activity", 0}, {"called", 0}, {"alias", 0}};
  static constexpr std::pair<CostSource, const char*> kSources[] = {
      {CostSource::kMeasured, "measured"},
      {CostSource::kAsyncPair, "async_pair"},
      {CostSource::kNoActivity, "no_activity"},
      {CostSource::kCalled, "called"},
      {CostSource::kAlias, "alias"}};
  for (const auto& [source, name] : kSources) {
    const auto it = module.costs_by_source.find(source);
    if (it != module.costs_by_source.end()) costs[name] = it->second;
  }
  return {{"module", module.name},
          {"fingerprint", module.fingerprint.empty() ? Json() : Json(module.fingerprint)},
          {"has_hlo", module.has_hlo},
          {"has_scheduling_names", module.has_scheduling_names},
          {"processes", module.processes},
          {"runs", module.runs},
          {"executions", module.executions},
          {"device_time_us", ToMicroseconds(module.busy)},
          {"costs", costs},
          {"own_names", module.own_names},
          {"coverage", CoverageJson(module.coverage, context.strict)},
          {"transfer",
           {{"matched_executions", module.transfer.matched},
            {"unmatched_executions", module.transfer.unmatched},
            {"idle_executions", module.transfer.idle},
            {"matched_us", ToMicroseconds(module.transfer.plain)},
            {"removed_us", ToMicroseconds(module.transfer.removed)},
            {"collectives_wider_than_trace", module.transfer.small_groups}}},
          {"command_buffers", module.command_buffers},
          {"command_buffer_us", ToMicroseconds(module.command_buffer_busy)},
          {"ops_not_in_hlo", module.unknown_ops},
          {"ops_not_in_hlo_us", ToMicroseconds(module.unknown_busy)}};
}

}  // namespace

std::string FormatReportJson(const Extraction& extraction, const ReportContext& context) {
  Json report;
  report["schema"] = kSchema;
  report["version"] = context.version;
  report["statistic"] = context.statistic;
  report["keys"] = ToString(extraction.keyed.mode);
  report["strict"] = context.strict;
  report["profile"] = context.output.empty()
                          ? Json()
                          : Json{{"file", context.output},
                                 {"sha256", context.output_sha256},
                                 {"costs", extraction.keyed.profile.costs.size()}};
  report["also_written"] = context.also_written;
  report["coverage_by_count"] = extraction.coverage_by_count(context.strict);
  report["coverage_by_device_time"] = extraction.coverage_by_time(context.strict);
  Json processes = Json::array();
  for (const ProcessReport& process : extraction.processes) {
    processes.push_back({{"process", process.name},
                         {"file", process.file},
                         {"sha256", process.sha256.empty() ? Json() : Json(ToHex(process.sha256))},
                         {"devices", process.devices},
                         {"events", process.events}});
  }
  report["processes"] = processes;
  report["device_time_us"] = ToMicroseconds(extraction.busy);
  report["without_op_us"] = {{"kernels", ToMicroseconds(extraction.unattributed[1])},
                             {"copies", ToMicroseconds(extraction.unattributed[2])},
                             {"memsets", ToMicroseconds(extraction.unattributed[3])},
                             {"other", ToMicroseconds(extraction.unattributed[0])}};
  Json modules = Json::array();
  for (const ModuleReport& module : extraction.modules) {
    modules.push_back(ModuleJson(module, context));
  }
  report["modules"] = modules;
  Diagnostics all = extraction.diagnostics;
  all.Append(ReportWarnings(extraction));
  report["diagnostics"] = DiagnosticsJson(all);
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
