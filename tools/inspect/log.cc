// pgle-inspect log: what the logs of a run say about profiles.
#include "inspect/check.h"
#include "inspect/log_format.h"
#include "inspect/log_scan.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

class LogVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("log", logs_, "Logs (also .gz, .zst), - for stdin")
        ->required()
        ->type_name("LOG");
    app.add_option("--module", module_, "Modules to list (jit_, pjit_, pmap_ if not given)")
        ->type_name("RE");
    app.add_flag("--json", json_, "Print JSON");
    app.footer("Example:\n  pgle-inspect log rank*.log.zst --module jit_train");
  }

  int Run(const cli::Messages& messages) override {
    const auto filter = FilterForPattern(module_);
    if (!filter.ok()) return messages.Fail(filter.error());
    const Result<LogReport> report = [&] {
      const cli::Progress progress(messages.options(), "reading logs");
      return ScanLogs(logs_, *filter, cli::SpoolDirectory());
    }();
    if (!report.ok()) return messages.Fail(report.error());
    if (const Status printed = cli::PrintAnswer(
            json_ ? FormatLogJson(*report) : FormatLogText(*report, messages.options().verbose));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    return 0;
  }

 private:
  std::vector<std::string> logs_;
  std::string module_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeLogVerb() {
  return std::make_unique<LogVerb>();
}

}  // namespace pgle
