// pgle-inspect diff: how two profiles differ.
#include <fmt/format.h>

#include <optional>

#include "inspect/profile_diff.h"
#include "inspect/read_profile.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

constexpr double kLargestLimit = 1e6;  // percent

class DiffVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("a", report_.a, "Profile: .pb, .pbtxt, .fdo_profile (also .zst, .gz)")
        ->required()
        ->type_name("A");
    app.add_option("b", report_.b, "The profile to compare with it")->required()->type_name("B");
    app.add_option("--fail-over", limit_,
                   "Exit status 3 when a cost changed by more, or only one profile has it")
        ->type_name("P");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(R"(Example:
  pgle-inspect diff yesterday.pb today.pb --fail-over 20%)");
  }

  int Run(const cli::Messages& messages) override {
    const Status status = Compare(messages);
    if (!status.ok()) return messages.Fail(status.error());
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatDiffJson(report_) : FormatDiffText(report_));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    const uint64_t over = report_.has_limit ? report_.diff.Over(report_.limit) : 0;
    if (over == 0) return 0;
    return messages.Fail(Refused(
        report_.b, fmt::format("{} {} changed by more than {:.1f} % or stand in one profile only",
                               over, over == 1 ? "cost" : "costs", 100 * report_.limit)));
  }

 private:
  Status Compare(const cli::Messages& messages) {
    report_.verbose = messages.options().verbose;
    report_.has_limit = limit_.has_value();
    if (report_.has_limit) {
      PGLE_ASSIGN_OR_RETURN(report_.limit, cli::ParseShare("--fail-over", *limit_, kLargestLimit));
    }
    const std::string spool = cli::SpoolDirectory();
    PGLE_ASSIGN_OR_RETURN(const CostProfile a, ReadAnyProfile(report_.a, spool));
    PGLE_ASSIGN_OR_RETURN(const CostProfile b, ReadAnyProfile(report_.b, spool));
    report_.diff = DiffProfiles(a, b);
    return {};
  }

  DiffReport report_;
  std::optional<std::string> limit_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeDiffVerb() {
  return std::make_unique<DiffVerb>();
}

}  // namespace pgle
