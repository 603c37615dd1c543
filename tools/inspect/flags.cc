// pgle-inspect flags: how XLA reads XLA_FLAGS, and why it would ignore the profile.
#include <cstdlib>

#include "hlo/dump_folder.h"
#include "inspect/flag_findings.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

class FlagsVerb : public Verb {
 public:
  void AddOptions(CLI::App& app) override {
    // STRING starts with "--" as a rule: it comes as an argument that is no option of the verb.
    app_ = app.fallthrough(false)->allow_extras();
    app.add_option("flags", text_, "The value of XLA_FLAGS ($XLA_FLAGS if not given)")
        ->type_name("STRING");
    app.add_option("--hlo", hlo_, "Modules of the job: their fingerprints must have a profile")
        ->type_name("FILE|DIR");
    app.add_flag("--json", json_, "Print JSON");
    app.footer(
        "Example:\n  pgle-inspect flags '--xla_gpu_pgle_profile_file_or_directory_path=p.pb'\n"
        "      exit status 3 when XLA would ignore the profile");
  }

  int Run(const cli::Messages& messages) override {
    FlagQuestion question;
    for (const std::string& extra : app_->remaining()) {
      if (text_ || extra.find_first_of("=_ \t\r\n") == std::string::npos) {
        return messages.Fail(UsageError(extra, "is neither an option nor a value of XLA_FLAGS",
                                        "quote the flags as one STRING; --help lists the options"));
      }
      text_ = extra;
    }
    const auto flags = ReadXlaFlags(text_ ? *text_ : Variable("XLA_FLAGS").value_or(""));
    if (!flags.ok()) return messages.Fail(flags.error());
    question.flags = *flags;
    question.environment = {Variable("TF_CPP_MIN_LOG_LEVEL"), Variable("JAX_ENABLE_PGLE"),
                            Variable("JAX_PGLE_PROFILING_RUNS"),
                            Variable("JAX_COMPILATION_CACHE_EXPECT_PGLE"),
                            Variable("JAX_COMPILATION_CACHE_DIR")};
    if (!hlo_.empty()) {
      auto folder = DumpFolder::Open(hlo_, cli::SpoolDirectory());
      if (!folder.ok()) return messages.Fail(folder.error());
      const auto modules = folder->All();
      if (!modules.ok()) return messages.Fail(modules.error());
      for (const auto& module : *modules) {
        if (!module->fingerprint().empty()) question.fingerprints.insert(module->fingerprint());
      }
    }
    const FlagReport report = InspectFlags(question, cli::SpoolDirectory());
    if (const Status printed =
            cli::PrintAnswer(json_ ? FormatFlagsJson(report) : FormatFlagsText(report));
        !printed.ok()) {
      return messages.Fail(printed.error());
    }
    return static_cast<int>(report.profile_would_be_used() ? ExitCode::kOk : ExitCode::kRefused);
  }

 private:
  CLI::App* app_ = nullptr;
  std::optional<std::string> text_;
  std::string hlo_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeFlagsVerb() {
  return std::make_unique<FlagsVerb>();
}

}  // namespace pgle
