// pgle-inspect check: one verdict from all evidence.
#include "inspect/check.h"

#include <optional>

#include "inspect/verb.h"

namespace pgle {
namespace {

class CheckVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("--log", options_.logs, "Logs of the run (also .gz, .zst), - for stdin")
        ->type_name("LOG");
    app.add_option("--dump-dir", options_.dump_directory, "XLA's dump folder (--xla_dump_to)")
        ->type_name("DIR");
    app.add_option("--hlo", options_.hlo, "Optimized modules, for the look-ups that no log counts")
        ->type_name("FILE|DIR");
    app.add_option("--profile", options_.profile, "The profile that should have been used")
        ->type_name("FILE");
    app.add_option("--module", options_.module_pattern, "The target: modules that match")
        ->type_name("RE");
    app.add_option("--xla-flags", xla_flags_, "The job's XLA_FLAGS")->type_name("STRING");
    app.add_option("--min-coverage", min_coverage_, "Of what the target asks for (50%)")
        ->type_name("P");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(
        "Exit status: 0 used; 3 not used, or not shown.\nExample:\n"
        "  pgle-inspect check --log train.log --profile profile.pb --hlo dump");
  }

  int Run(const cli::Messages& messages) override {
    if (min_coverage_) {
      const auto share = cli::ParseShare("--min-coverage", *min_coverage_);
      if (!share.ok()) return messages.Fail(share.error());
      options_.min_coverage = *share;
    }
    options_.xla_flags = xla_flags_;
    options_.spool_directory = cli::SpoolDirectory();
    const Result<CheckReport> report = [&] {
      const cli::Progress progress(messages.options(), "reading logs");
      return Check(options_);
    }();
    if (!report.ok()) return messages.Fail(report.error());
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatCheckJson(*report, options_.min_coverage)
                                   : FormatCheckText(*report, messages.options().verbose));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    return static_cast<int>(report->verdict == Verdict::kUsed ? ExitCode::kOk : ExitCode::kRefused);
  }

 private:
  CheckOptions options_;
  std::optional<std::string> xla_flags_;
  std::optional<std::string> min_coverage_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeCheckVerb() {
  return std::make_unique<CheckVerb>();
}

}  // namespace pgle
