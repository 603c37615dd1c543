// pgle-inspect show: what a profile holds.
#include <limits>

#include "inspect/profile_summary.h"
#include "inspect/read_profile.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

class ShowVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    app.add_option("profile", report_.profile,
                   "Profile: .pb, .pbtxt, or an .fdo_profile of a dump (also .zst, .gz)")
        ->required()
        ->type_name("PROFILE");
    app.add_option("--top", report_.top, "List N costs (20); -v lists all")->type_name("N");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(R"(Example:
  pgle-inspect show profile.pb --top 5)");
  }

  int Run(const cli::Messages& messages) override {
    const auto profile = ReadAnyProfile(report_.profile, cli::SpoolDirectory());
    if (!profile.ok()) return messages.Fail(profile.error());
    report_.summary = Summarize(*profile);
    if (messages.options().verbose) report_.top = std::numeric_limits<size_t>::max();
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatShowJson(report_) : FormatShowText(report_));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    return 0;
  }

 private:
  ShowReport report_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeShowVerb() {
  return std::make_unique<ShowVerb>();
}

}  // namespace pgle
