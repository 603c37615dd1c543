// pgle-extract: traces of training runs in, an instruction-latency profile out.
#include <fmt/format.h>

#include <optional>

#include "base/sha256.h"
#include "cli.h"
#include "extract/extract.h"
#include "extract/jaxlib_compat.h"
#include "extract/report.h"
#include "extract/sample_export.h"
#include "io/output.h"
#include "io/output_set.h"
#include "profile/per_module.h"

namespace pgle {
namespace {

constexpr const char* kTool = "pgle-extract";

constexpr const char* kExamples = R"(Examples:
  pgle-extract logs -o profile.pb
      the newest run under logs/plugins/profile; then compile with
      XLA_FLAGS=--xla_gpu_pgle_profile_file_or_directory_path=$PWD/profile.pb
  pgle-extract host*.xplane.pb.zst --hlo dump -o profile.pb --min-coverage 95%
      the processes of one job; exit status 3 and no file below 95 %
  pgle-extract logs --samples host0.samples.zst
      for pgle-merge, which makes one profile for all hosts
pgle-extract(1) tells the rest.)";

struct Arguments {
  ExtractOptions extract;
  std::string output, json, depfile, per_module, samples, compat;
  std::optional<std::string> min_coverage;
  std::string statistic = "median", collectives = "transfer", keys = "auto", names = "scheduling",
              async_fusions = "skip";
  bool strict = false;
};

void AddOptions(CLI::App& app, Arguments* args) {
  const auto choice = [&](const char* flag, std::string* value, const char* help,
                          const std::vector<std::string>& values) {
    std::string type;
    for (const std::string& v : values) type += (type.empty() ? "" : "|") + v;
    app.add_option(flag, *value, help)
        ->check(CLI::IsMember(values).description(""))
        ->type_name(type);
  };
  app.add_option("INPUT", args->extract.inputs,
                 "Log directory, run directory, .xplane.pb (also .zst, .gz), or -")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", args->output, "Profile to write: .pb, .pbtxt, or -")
      ->type_name("FILE");
  app.add_option("--stat", args->statistic, "median (default), mean, min, max or pNN")
      ->type_name("STAT");
  choice("--collectives", &args->collectives, "Transfer time (default), or as measured",
         {"transfer", "plain"});
  choice("--keys", &args->keys, "Names with fingerprint, without, or both",
         {"auto", "both", "bare", "qualified"});
  choice("--names", &args->names, "Which names costs go under", {"scheduling", "runtime", "both"});
  choice("--async-fusions", &args->async_fusions, "Asynchronous pairs that are no collectives",
         {"skip", "cost", "zero"});
  choice("--compat", &args->compat, "jaxlib's own result: to 0.11.2, or (spans) from 0.12.0",
         {"jaxlib", "jaxlib-spans"});
  app.add_option("--module", args->extract.module_pattern, "Only modules that match")
      ->type_name("RE");
  app.add_option("--run", args->extract.run, "This run of a log directory, not the newest")
      ->type_name("NAME");
  app.add_option("--hlo", args->extract.hlo, "XLA dump for modules that the trace lacks")
      ->type_name("PATH");
  app.add_option("--skip-first", args->extract.skip_first, "Leave out N module runs on each device")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("N");
  app.add_option("--min-coverage", args->min_coverage, "Below it: status 3, nothing written")
      ->type_name("P");
  app.add_flag("--strict", args->strict, "Coverage counts what is left to XLA as missing");
  app.add_option("--per-module", args->per_module, "Write <fingerprint>.pb files there")
      ->type_name("DIR");
  app.add_option("--samples", args->samples, "Write all samples, for pgle-merge")
      ->type_name("FILE");
  app.add_option("--json", args->json, "Write the report as JSON")->type_name("FILE");
  app.add_option("--depfile", args->depfile, "Write what was read, for make and ninja")
      ->type_name("FILE");
  app.add_option("-j,--jobs", args->extract.jobs, "Files read at a time")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
}

// jaxlib's own result has no report, no coverage and no choice of costs.
Status CheckCompat(const Arguments& args) {
  if (args.output.empty()) return UsageError("--compat", "writes one profile", "name it with -o");
  const std::pair<const char*, bool> foreign[] = {
      {"--json", !args.json.empty()},
      {"--samples", !args.samples.empty()},
      {"--per-module", !args.per_module.empty()},
      {"--min-coverage", args.min_coverage.has_value()},
      {"--module", !args.extract.module_pattern.empty()},
      {"--hlo", !args.extract.hlo.empty()},
      {"--skip-first", args.extract.skip_first > 0}};
  for (const auto& [option, is_given] : foreign) {
    if (is_given)
      return UsageError(option, "has no meaning with --compat", "leave one of them out");
  }
  return {};
}

// What would be overwritten, now that the inputs are known as files.
Status CheckTargets(const Arguments& args, const std::vector<std::string>& files) {
  return CheckOutputs({args.output, args.json, args.samples, args.depfile}, files);
}

Status Interpret(Arguments* args) {
  ExtractOptions& extract = args->extract;
  PGLE_ASSIGN_OR_RETURN(extract.costs.statistic, Statistic::Parse(args->statistic));
  extract.transfer_times = args->collectives == "transfer";
  extract.keys = KeyModeNamed(args->keys);
  extract.costs.names = args->names == "runtime" ? NameMode::kRuntime
                        : args->names == "both"  ? NameMode::kBoth
                                                 : NameMode::kScheduling;
  extract.costs.async_fusions = args->async_fusions == "cost"   ? AsyncFusions::kCost
                                : args->async_fusions == "zero" ? AsyncFusions::kZero
                                                                : AsyncFusions::kSkip;
  extract.want_samples = !args->samples.empty();
  extract.spool_directory = cli::SpoolDirectory();
  if (args->output.empty() && args->per_module.empty() && args->samples.empty()) {
    return UsageError("", "nothing to write", "name a profile with -o FILE.pb");
  }
  if (!args->depfile.empty() && (args->output.empty() || args->output == "-")) {
    return UsageError("--depfile", "has no target", "name a profile with -o FILE.pb");
  }
  if (!args->compat.empty()) PGLE_RETURN_IF_ERROR(CheckCompat(*args));
  if (!args->output.empty() && args->output != "-") {
    PGLE_ASSIGN_OR_RETURN([[maybe_unused]] const ProfileFormat format,
                          ProfileFormatFor(args->output));
  }
  PGLE_RETURN_IF_ERROR(cli::CheckBinaryOutput(args->output));
  return cli::CheckBinaryOutput(args->samples);
}

ProfileFormat FormatOf(const std::string& path) {
  return path == "-" ? ProfileFormat::kBinary : ProfileFormatFor(path).value();
}

Status StageDepfile(const Arguments& args, std::vector<std::string> files, OutputSet* outputs) {
  if (args.depfile.empty()) return {};
  std::erase(files, "-");
  return outputs->Stage(args.depfile, FormatDepfile(args.output, files));
}

int RunCompat(const Arguments& args, const cli::Messages& messages) {
  Diagnostics diagnostics;
  const auto files = ResolveInputs(args.extract, &diagnostics);
  if (!files.ok()) return messages.Fail(files.error());
  if (const Status status = CheckTargets(args, *files); !status.ok()) {
    return messages.Fail(status.error());
  }
  const auto profile =
      ExtractAsJaxlib(*files, args.compat == "jaxlib" ? JaxlibRules::kEvents : JaxlibRules::kSpans,
                      args.extract.spool_directory);
  if (!profile.ok()) return messages.Fail(profile.error());
  messages.Print(diagnostics);
  if (profile->costs.empty()) {
    return messages.Fail(Failed("profile", "no event has an op, nothing to write",
                                "jaxlib would write an empty profile here"));
  }
  OutputSet outputs;
  Status status = outputs.Stage(args.output, SerializeProfile(*profile, FormatOf(args.output)));
  if (status.ok()) status = StageDepfile(args, *files, &outputs);
  if (status.ok()) status = outputs.Commit();
  if (!status.ok()) return messages.Fail(status.error());
  messages.Report(fmt::format("wrote {}: {} costs as jaxlib writes them\n", args.output,
                              profile->costs.size()));
  return 0;
}

Status StagePerModule(const Arguments& args, const Extraction& extraction, OutputSet* outputs,
                      ReportContext* context) {
  std::vector<ModuleProfile> modules;
  for (const ModuleCosts& module : extraction.costs) {
    if (module.fingerprint.empty() || module.costs.empty()) continue;
    Diagnostics ignored;
    PGLE_ASSIGN_OR_RETURN(KeyedProfile keyed,
                          AssembleProfile({module}, KeyMode::kQualified, &ignored));
    modules.push_back({module.fingerprint, std::move(keyed.profile)});
  }
  PGLE_ASSIGN_OR_RETURN(context->also_written, PlanModuleFiles(args.per_module, modules));
  return StageModuleFiles(args.per_module, modules, outputs);
}

// Everything is written beside its target first; then all of it gets its name, or nothing does.
Status WriteOutputs(const Arguments& args, const Extraction& extraction, ReportContext* context) {
  OutputSet outputs;
  if (!args.per_module.empty()) {
    PGLE_RETURN_IF_ERROR(StagePerModule(args, extraction, &outputs, context));
  }
  if (!args.output.empty()) {
    const std::string bytes = SerializeProfile(extraction.keyed.profile, FormatOf(args.output));
    PGLE_RETURN_IF_ERROR(outputs.Stage(args.output, bytes));
    context->output = args.output;
    context->output_sha256 = ToHex(Sha256Of(bytes));
  }
  PGLE_RETURN_IF_ERROR(StageDepfile(args, extraction.files, &outputs));
  if (!args.samples.empty()) context->also_written.push_back(args.samples);
  if (!args.json.empty()) {
    PGLE_RETURN_IF_ERROR(outputs.Stage(args.json, FormatReportJson(extraction, *context)));
  }
  if (!args.samples.empty()) {  // streamed, and named when it is complete
    PGLE_RETURN_IF_ERROR(
        WriteSamples(args.samples, extraction, args.extract.costs.statistic.name()));
  }
  return outputs.Commit();
}

// The gate of --min-coverage. Unknown coverage does not pass it.
Status CheckCoverage(const Arguments& args, double wanted, const Extraction& extraction) {
  const double coverage = extraction.coverage_by_count(args.strict);
  if (!extraction.coverage_is_known()) {
    return Refused(args.output, "not written: the coverage is unknown, for want of a module's HLO",
                   "give the HLO of the run with --hlo");
  }
  if (coverage >= wanted) return {};
  return Refused(args.output,
                 fmt::format("not written: the profile covers {:.1f} % of the instructions, "
                             "{:.1f} % are asked for",
                             100 * coverage, 100 * wanted),
                 "the report says what is missing and why");
}

int Run(int argc, char** argv) {
  Arguments args;
  cli::CommonOptions common;
  CLI::App app(
      "Turns traces of training runs into the latency profile that XLA's latency hiding\n"
      "scheduler needs.",
      kTool);
  AddOptions(app, &args);
  cli::AddCommonOptions(app, &common);
  app.footer(kExamples);
  if (const std::optional<int> status = cli::Parse(app, argc, argv)) return *status;
  const cli::Messages messages(kTool, common);
  if (const Status status = Interpret(&args); !status.ok()) return messages.Fail(status.error());
  if (!args.compat.empty()) return RunCompat(args, messages);

  double wanted = 0;
  if (args.min_coverage) {
    const auto share = cli::ParseShare("--min-coverage", *args.min_coverage);
    if (!share.ok()) return messages.Fail(share.error());
    wanted = *share;
  }
  Result<Extraction> extraction = [&] {
    const cli::Progress progress(common, "reading traces");
    return Extract(args.extract);
  }();
  if (!extraction.ok()) return messages.Fail(extraction.error());

  ReportContext context;
  context.version = PGLE_VERSION;
  context.statistic = args.extract.costs.statistic.name();
  context.strict = args.strict;
  context.verbose = common.verbose;
  Status status = CheckTargets(args, extraction->files);
  if (!status.ok()) return messages.Fail(status.error());
  if (args.min_coverage) status = CheckCoverage(args, wanted, *extraction);
  if (status.ok()) {
    status = WriteOutputs(args, *extraction, &context);
  } else if (!args.json.empty()) {  // the report tells why
    const Status json = WriteFileAtomically(args.json, FormatReportJson(*extraction, context));
    if (!json.ok()) status = json.error();
  }
  if (!status.ok() && status.error().code == ErrorCode::kFailed) {
    return messages.Fail(status.error());
  }
  messages.Print(extraction->diagnostics);
  messages.Report(FormatReportText(*extraction, context));
  messages.Print(ReportWarnings(*extraction));
  return status.ok() ? 0 : messages.Fail(status.error());
}

}  // namespace
}  // namespace pgle

int main(int argc, char** argv) {
  return pgle::cli::Guard(pgle::kTool, pgle::Run, argc, argv);
}
