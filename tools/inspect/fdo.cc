// pgle-inspect fdo: the profiles that came with the compile requests, as XLA dumped them.
#include "inspect/fdo.h"

#include "inspect/read_profile.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

class FdoVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("dump", report_.folder, "XLA dump folder with .fdo_profile files")
        ->required()
        ->type_name("DUMPDIR");
    app.add_option("--profile", report_.profile, "Compare them with this profile")->type_name("P");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(R"(Example:
  pgle-inspect fdo dump --profile profile.pb)");
  }

  int Run(const cli::Messages& messages) override {
    const Status status = Read(messages);
    if (!status.ok()) return messages.Fail(status.error());
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatFdoJson(report_) : FormatFdoText(report_));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    return 0;
  }

 private:
  Status Read(const cli::Messages& messages) {
    report_.verbose = messages.options().verbose;
    const std::string spool = cli::SpoolDirectory();
    CostProfile given;
    if (!report_.profile.empty()) {
      PGLE_ASSIGN_OR_RETURN(given, ReadAnyProfile(report_.profile, spool));
    }
    PGLE_ASSIGN_OR_RETURN(
        report_.compiles,
        ReadFdoProfiles(report_.folder, report_.profile.empty() ? nullptr : &given, spool));
    return {};
  }

  FdoReport report_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeFdoVerb() {
  return std::make_unique<FdoVerb>();
}

}  // namespace pgle
