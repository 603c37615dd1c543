#include "capture/convert/findings.h"

#include <fmt/format.h>

namespace pgle {
namespace {

constexpr uint64_t kClockToleranceNs = 1'000'000;

}  // namespace

void ReportFindings(const CaptureSummary& summary, const ConversionFaults& faults,
                    Diagnostics* diagnostics, std::vector<std::string>* warnings) {
  const auto warn = [&](std::string what, std::string hint) {
    warnings->push_back("pgle-capture: " + what);
    diagnostics->Warn(summary.spill, std::move(what), std::move(hint));
  };
  if (!summary.is_complete) {
    warn(summary.has_ended ? "the program ended before the window had closed"
                           : "the recording was cut: the process was killed before it was complete",
         "choose a window that lies earlier, or let the program run on");
  }
  if (summary.dropped_records > 0) {
    warn(fmt::format("{} records were dropped", summary.dropped_records),
         "costs of ops may be too low; raise --buffer-size or record fewer steps");
  }
  if (summary.dropped_buffers > 0) {
    warn(fmt::format("{} full buffers of records were dropped", summary.dropped_buffers),
         "the disk was too slow; record fewer steps, or into a faster directory");
  }
  if (summary.write_errors > 0) {
    warn(fmt::format("{} parts of the recording could not be written", summary.write_errors),
         "what they held is missing; make room on the disk and record again");
  }
  if (summary.lost_events > 0) {
    warn(fmt::format("{} launches, module runs or graph nodes were lost", summary.lost_events),
         "what they launched has no op; record fewer steps, or leave the recorder a core");
  }
  if (summary.lost_strings > 0) {
    warn(fmt::format("{} texts of ranges were lost", summary.lost_strings),
         "what ran inside them has no op; record a program with fewer modules at once");
  }
  if (summary.untimed_records > 0) {
    warn(fmt::format("{} records had no time and were left out", summary.untimed_records),
         "the driver gave none; record again, or with a newer driver");
  }
  if (faults.without_launch > 0) {
    warn(fmt::format("{} records have no launch and therefore no op", faults.without_launch),
         "their launches were lost or came before the recorder");
  }
  if (faults.clock_drift_ns > kClockToleranceNs) {
    warn(fmt::format("the clock was set by {:.1f} ms while the program ran",
                     static_cast<double>(faults.clock_drift_ns) / 1e6),
         "times across it are wrong by as much; record again");
  }
  const uint64_t records = summary.kernels + summary.copies + summary.sets;
  if (records > 0 && summary.attributed == 0) {
    warn("no record has an HLO op",
         "the recorder saw no ranges of XLA: set NVTX_INJECTION64_PATH, and see pgle-capture(1)");
  } else if (summary.attributed_time_share < 0.99 && summary.attributed > 0) {
    warn(fmt::format("{:.1f} % of the modules' device time has an HLO op",
                     summary.attributed_time_share * 100),
         "pgle-extract lists what has none");
  }
  std::string without_hlo;
  for (const ModuleRuns& module : summary.modules) {
    if (module.has_hlo || module.device_time_share < 0.01) continue;
    without_hlo += (without_hlo.empty() ? "" : ", ") + module.name;
  }
  if (!without_hlo.empty() && !summary.output.empty()) {
    diagnostics->Warn(
        summary.spill, fmt::format("no HLO of {} was found", without_hlo),
        "without it costs have run-time names and no fingerprint; modules of the "
        "compilation cache are not dumped: run with JAX_ENABLE_COMPILATION_CACHE=false");
  }
}

}  // namespace pgle
