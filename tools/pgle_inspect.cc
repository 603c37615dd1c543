// pgle-inspect: did the scheduler really use the profile?
#include <memory>
#include <vector>

#include "cli.h"
#include "inspect/verb.h"

namespace pgle {
namespace {

constexpr const char* kTool = "pgle-inspect";

constexpr const char* kExamples = R"(Examples:
  pgle-inspect check --log train.log --profile profile.pb --hlo dump
      exit status 0: the profile was used; 3: it was not, or nothing shows that it was
  pgle-inspect coverage --hlo dump profile.pb --min 95%
      found and missing look-ups with reasons; exit status 3 below 95 %
  pgle-inspect flags
      how XLA reads $XLA_FLAGS, and why it would ignore the profile
  pgle-inspect hosts dump/rank*
      exit status 3 where ranks compiled different modules
`pgle-inspect VERB --help` lists the options of a verb; pgle-inspect(1) tells the rest.)";

struct Entry {
  const char* name;
  const char* help;
  std::unique_ptr<Verb> verb;
};

std::vector<Entry> AllVerbs() {
  std::vector<Entry> verbs;
  verbs.push_back({"check", "One verdict from all evidence, for CI", MakeCheckVerb()});
  verbs.push_back({"log", "What the log of a run says, module by module", MakeLogVerb()});
  verbs.push_back({"flags", "XLA_FLAGS as XLA parses them", MakeFlagsVerb()});
  verbs.push_back(
      {"coverage", "Which look-ups of the scheduler a profile answers", MakeCoverageVerb()});
  verbs.push_back({"fdo", "The .fdo_profile files of an XLA dump", MakeFdoVerb()});
  verbs.push_back({"hosts", "Whether all ranks compiled the same modules", MakeHostsVerb()});
  verbs.push_back({"show", "What a profile holds", MakeShowVerb()});
  verbs.push_back({"diff", "How two profiles differ", MakeDiffVerb()});
  return verbs;
}

int Run(int argc, char** argv) {
  cli::CommonOptions common;
  CLI::App app("Shows whether XLA's latency hiding scheduler used a profile, and if not, why.",
               kTool);
  cli::AddCommonOptions(app, &common);
  app.footer(kExamples);
  app.require_subcommand(1);
  const std::vector<Entry> verbs = AllVerbs();
  std::vector<CLI::App*> subcommands;
  for (const Entry& entry : verbs) {
    CLI::App* subcommand = app.add_subcommand(entry.name, entry.help);
    subcommand->fallthrough();  // -q, -v and --color are good behind the verb as well
    entry.verb->AddOptions(*subcommand);
    subcommands.push_back(subcommand);
  }
  if (const std::optional<int> status = cli::Parse(app, argc, argv)) return *status;
  const cli::Messages messages(kTool, common);
  for (size_t i = 0; i < verbs.size(); ++i) {
    if (subcommands[i]->parsed()) return verbs[i].verb->Run(messages);
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace
}  // namespace pgle

int main(int argc, char** argv) {
  return pgle::cli::Guard(pgle::kTool, pgle::Run, argc, argv);
}
