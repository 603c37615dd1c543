#include <nlohmann/json.hpp>

#include "base/diagnostics_json.h"
#include "capture/fault_text.h"
#include "capture/report.h"

namespace pgle {
namespace {

using Json = nlohmann::ordered_json;
using recorder::Fault;
using recorder::ProcessState;
using recorder::WindowMode;

constexpr const char* kSchema = "pgle.capture.report/1";

Json OrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json ErrorJson(const Error& error) {
  return {{"where", error.where}, {"what", error.what}, {"hint", error.hint}};
}

Json StepTimesJson(const StepTimes& times) {
  if (times.count == 0) return {};
  return {{"count", times.count},
          {"median_us", times.median_us},
          {"mean_us", times.mean_us},
          {"p10_us", times.p10_us},
          {"p90_us", times.p90_us}};
}

Json ModuleJson(const ModuleRuns& module, bool with_starts) {
  Json json = {{"module", module.name},
               {"program_id", module.program_id},
               {"devices", module.devices},
               {"executions", module.executions},
               {"is_chosen", module.is_chosen},
               {"has_hlo", module.has_hlo},
               {"device_time_share", module.device_time_share},
               {"step_time_outside", StepTimesJson(module.outside)},
               {"step_time_inside", StepTimesJson(module.inside)}};
  if (with_starts) json["starts_ns"] = module.starts;
  return json;
}

void AddSummary(const CaptureSummary& summary, bool is_windowed, Json* json) {
  Json& process = *json;
  process["command"] = summary.command;
  process["cupti_path"] = OrNull(summary.cupti_path);
  process["cupti_version"] = summary.cupti_version;
  process["driver_version"] = summary.driver_version;
  process["has_ended"] = summary.has_ended;
  process["devices"] = summary.devices;
  process["window"] = summary.has_window ? Json{{"first_step", summary.first_step},
                                                {"last_step", summary.last_step},
                                                {"duration_s", summary.window_seconds},
                                                {"reason", summary.window_reason},
                                                {"is_complete", summary.is_complete}}
                                         : Json();
  if (is_windowed) {
    process["records"] = {{"kernels", summary.kernels},
                          {"copies", summary.copies},
                          {"memsets", summary.sets},
                          {"in_command_buffers", summary.in_graphs},
                          {"attributed", summary.attributed},
                          {"attributed_time_share", summary.attributed_time_share},
                          {"dropped", summary.dropped_records},
                          {"dropped_buffers", summary.dropped_buffers},
                          {"untimed", summary.untimed_records},
                          {"lost_events", summary.lost_events},
                          {"lost_strings", summary.lost_strings},
                          {"write_errors", summary.write_errors}};
  }
  Json modules = Json::array();
  for (const ModuleRuns& module : summary.modules) {
    modules.push_back(ModuleJson(module, !is_windowed));
  }
  process["modules"] = modules;
}

Json ProcessJson(const ProcessReport& process, bool is_windowed) {
  Json json = {{"pid", process.pid},
               {"state", ToString(process.state)},
               {"fault", process.fault == Fault::kNone ? Json()
                                                       : Json{{"kind", ToString(process.fault)},
                                                              {"code", process.code},
                                                              {"text", process.fault_text}}},
               {"error", process.error ? ErrorJson(*process.error) : Json()},
               {"still_runs", process.still_runs},
               {"module_runs", process.module_runs},
               {"nvtx_clients", process.nvtx_clients}};
  json["trace"] = process.has_trace() ? Json{{"file", process.summary->output},
                                             {"size_bytes", process.summary->output_bytes}}
                                      : Json();
  if (process.summary) AddSummary(*process.summary, is_windowed, &json);
  return json;
}

Json CommandJson(const CaptureReport& report) {
  if (report.command.empty()) return {};
  return {{"arguments", report.command},
          {"status", report.status},
          {"signal", report.signal == 0 ? Json() : Json(report.signal)},
          {"timed_out", report.timed_out},
          {"duration_s", report.seconds}};
}

}  // namespace

const char* ToString(ProcessState state) {
  constexpr const char* kNames[] = {"free", "loaded",  "ready",  "armed",
                                    "open", "closing", "closed", "failed"};
  const auto index = static_cast<size_t>(state);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

const char* ToString(Fault fault) {
  constexpr const char* kNames[] = {
      "none",  "no_cupti", "unknown_cupti", "subscriber_taken", "privileges",   "cupti_call",
      "spill", "layout",   "no_memory",     "flush_timeout",    "window_missed"};
  const auto index = static_cast<size_t>(fault);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

const char* ToString(WindowMode mode) {
  constexpr const char* kNames[] = {"", "steps", "auto", "time", "profiler_api", "signal", "none"};
  const auto index = static_cast<size_t>(mode);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

std::string FormatCaptureJson(const CaptureReport& report, const CaptureContext& context) {
  const bool is_windowed = report.window.mode != WindowMode::kNone;
  Json json;
  json["schema"] = kSchema;
  json["version"] = context.version;
  json["status"] = context.exit_status;
  json["command"] = CommandJson(report);
  json["is_whole"] = report.failures.empty();
  Json failures = Json::array();
  for (const Error& error : report.failures) failures.push_back(ErrorJson(error));
  json["failures"] = failures;
  json["window_mode"] = report.command.empty() ? Json() : Json(ToString(report.window.mode));
  json["host"] = report.host;
  json["rank"] = report.rank.rank ? Json(*report.rank.rank) : Json();
  json["ranks"] = report.rank.ranks == 0 ? Json() : Json(report.rank.ranks);
  json["log_directory"] = OrNull(report.log_directory);
  json["run"] = OrNull(report.run);
  json["run_directory"] = OrNull(report.run_directory);
  json["kept_directory"] = OrNull(report.kept_directory);
  json["autotune_file"] = OrNull(report.autotune_file);
  Json processes = Json::array();
  for (const ProcessReport& process : report.processes) {
    processes.push_back(ProcessJson(process, is_windowed));
  }
  json["processes"] = processes;
  json["diagnostics"] = DiagnosticsJson(report.diagnostics);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pgle
