// pgle-inspect hosts: whether all ranks of a job compiled the same modules.
#include "inspect/hosts.h"

#include "inspect/verb.h"

namespace pgle {
namespace {

std::string HintFor(const HostsComparison& comparison) {
  for (const ComparedModule& module : comparison.modules) {
    for (const HostVariant& variant : module.variants) {
      if (variant.fingerprint != module.variants.front().fingerprint) {
        return "where it is the autotuner's choice, pin it on all of them with "
               "--xla_gpu_load_autotune_results_from";
      }
    }
  }
  return "give all ranks the same profile, flags and versions";
}

class HostsVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("dump", inputs_, "XLA dump folder or HLO file of each rank")
        ->required()
        ->type_name("DIR");
    app.add_option("--module", module_, "Compare the modules that match")->type_name("RE");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(R"(Example:
  pgle-inspect hosts dump/rank*)");
  }

  int Run(const cli::Messages& messages) override {
    HostsReport report;
    report.verbose = messages.options().verbose;
    {
      const cli::Progress progress(messages.options(), "reading");
      auto comparison = CompareHosts(inputs_, module_, cli::SpoolDirectory());
      if (!comparison.ok()) return messages.Fail(comparison.error());
      report.comparison = std::move(*comparison);
    }
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatHostsJson(report) : FormatHostsText(report));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    if (!report.comparison.differs()) return 0;
    return messages.Fail(Refused("", "the ranks did not compile the same modules in the same way",
                                 HintFor(report.comparison)));
  }

 private:
  std::vector<std::string> inputs_;
  std::string module_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeHostsVerb() {
  return std::make_unique<HostsVerb>();
}

}  // namespace pgle
