// pgle-inspect coverage: which of the scheduler's look-ups a profile answers.
#include <fmt/format.h>

#include <optional>

#include "inspect/coverage_report.h"
#include "inspect/read_profile.h"
#include "inspect/target.h"
#include "inspect/trace_times.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

class CoverageVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("profile", report_.profile,
                   "Profile: .pb, .pbtxt, or an .fdo_profile of a dump (also .zst, .gz)")
        ->required()
        ->type_name("PROFILE");
    app.add_option("--hlo", report_.hlo, "Optimized HLO module, or XLA dump folder")
        ->required()
        ->type_name("PATH");
    app.add_option("--module", module_, "Judge the modules that match")->type_name("RE");
    app.add_option("--min", min_, "Exit status 3 below it")->type_name("P");
    app.add_flag("--strict", report_.strict, "Count what is undecided or left to XLA as missing");
    app.add_option("--trace", trace_.input, "Weigh by the device time of this run, not by costs")
        ->type_name("RUN");
    app.add_option("--run", trace_.run, "This run of a log directory, not the newest")
        ->type_name("NAME");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(R"(Example:
  pgle-inspect coverage --hlo dump profile.pb --min 95%)");
  }

  int Run(const cli::Messages& messages) override {
    const Status status = Measure(messages);
    if (!status.ok()) return messages.Fail(status.error());
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatCoverageJson(report_) : FormatCoverageText(report_));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    return IsCovered(report_) ? 0 : messages.Fail(TooLittle());
  }

 private:
  Status Measure(const cli::Messages& messages) {
    report_.verbose = messages.options().verbose;
    if (min_) {
      PGLE_ASSIGN_OR_RETURN(report_.min_share, cli::ParseShare("--min", *min_));
    }
    const std::string spool = cli::SpoolDirectory();
    const cli::Progress progress(messages.options(), "reading");
    PGLE_ASSIGN_OR_RETURN(const CostProfile profile, ReadAnyProfile(report_.profile, spool));
    std::vector<ModuleTimes> times;
    if (!trace_.input.empty()) {
      trace_.hlo = report_.hlo;
      trace_.spool_directory = spool;
      Diagnostics diagnostics;
      PGLE_ASSIGN_OR_RETURN(times, ReadTraceTimes(trace_, &diagnostics));
      messages.Print(diagnostics);
    }
    PGLE_ASSIGN_OR_RETURN(report_.modules, CoverageOf(report_.hlo, profile, times, spool));
    PGLE_ASSIGN_OR_RETURN(report_.targets, TargetModules(report_.modules, module_));
    messages.Print(Warnings());
    return {};
  }

  Diagnostics Warnings() const {
    Diagnostics warnings;
    for (size_t i : report_.targets) {
      const HloCoverage& module = report_.modules[i];
      if (!module.is_scheduled) {
        warnings.Warn(module.file, "is not scheduled: its names may not be those asked for",
                      "give the module *after_optimizations");
      }
      if (!trace_.input.empty() && !module.times_from_trace) {
        warnings.Warn(trace_.input, fmt::format("did not run {}: weighed by costs", module.module));
      }
    }
    return warnings;
  }

  Error TooLittle() const {
    std::string what;
    for (size_t i : report_.targets) {
      const HloCoverage& module = report_.modules[i];
      if (IsCovered(report_, module)) continue;
      what += fmt::format("{}{}: {} found, {:.1f} %", what.empty() ? "" : ", ", module.module,
                          module.found_instructions, 100 * module.share(report_.strict));
    }
    return Refused(
        report_.profile,
        fmt::format("covers less than the {:.1f} % asked for ({})", 100 * *report_.min_share, what),
        "the report names what is missing and why");
  }

  CoverageReport report_;
  TraceTimesOptions trace_;
  std::string module_;
  std::optional<std::string> min_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeCoverageVerb() {
  return std::make_unique<CoverageVerb>();
}

}  // namespace pgle
