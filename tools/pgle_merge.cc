// pgle-merge: profiles or sample files of many processes in, one profile for all of them out.
#include <fmt/format.h>

#include <thread>

#include "base/sha256.h"
#include "cli.h"
#include "io/output.h"
#include "io/output_set.h"
#include "merge/merge.h"
#include "merge/report.h"
#include "profile/per_module.h"

namespace pgle {
namespace {

constexpr const char* kTool = "pgle-merge";

constexpr const char* kExamples = R"(Examples:
  pgle-merge host*.samples -o merged.pb --expect-processes 16
      the samples of all processes (pgle-extract --samples), one profile for all hosts
  pgle-merge -p 90 host*.pb -o merged.pb
      profiles, as JAX aggregates them
  find runs -name '*.samples' -print0 | pgle-merge -0 - --samples-out node.samples
      a step of a tree: sample files into one
pgle-merge(1) tells the rest.)";

struct Arguments {
  MergeOptions merge;
  std::string output, json, depfile, keys = "auto", failure_mode = "any";
  double percentile = kDefaultPercentile, collective_percentile = kDefaultPercentile;
  CLI::Option* has_percentile = nullptr;
  CLI::Option* has_collective_percentile = nullptr;
};

void AddOptions(CLI::App& app, Arguments* args) {
  MergeOptions& merge = args->merge;
  app.add_option("input", merge.inputs,
                 "Profiles (.pb, .pbtxt) or sample files, also .zst and .gz; directories; @LIST, "
                 "- for a list on stdin")
      ->required()
      ->type_name("INPUT");
  app.add_option("-o,--output", args->output, "Profile to write: .pb, .pbtxt, or -")
      ->type_name("FILE");
  args->has_percentile = app.add_option("-p,--percentile", args->percentile,
                                        "Of all costs of a name: 90; samples: their own statistic")
                             ->check(CLI::Range(0.0, 100.0))
                             ->type_name("P");
  args->has_collective_percentile =
      app.add_option("--collective-percentile", args->collective_percentile,
                     "The same for collectives alone")
          ->check(CLI::Range(0.0, 100.0))
          ->type_name("P");
  app.add_option("--samples-out", merge.samples_out, "Write the union of the sample files")
      ->type_name("FILE");
  app.add_option("--per-module", merge.per_module, "Write <fingerprint>.pb files there")
      ->type_name("DIR");
  app.add_option("--keys", args->keys, "Of sample files: names with fingerprint, without, or both")
      ->check(CLI::IsMember({"auto", "both", "bare", "qualified"}).description(""))
      ->type_name("auto|both|bare|qualified");
  app.add_option("--expect-processes", merge.expect_processes, "Fewer: status 3, nothing written")
      ->type_name("N");
  app.add_flag("--allow-drift", merge.allow_drift,
               "Merge though processes compiled different versions of a module");
  app.add_option("--hlo", merge.hlo, "XLA dump or .hlo.pb, to name what differs between versions")
      ->expected(1)
      ->take_all()
      ->type_name("PATH");
  app.add_option("--max-spread", merge.max_spread,
                 "Warn of costs that differ by more than this factor (5)")
      ->check(CLI::Range(1.0, 1e9).description(""))
      ->type_name("F");
  app.add_option("--failure-mode", args->failure_mode, "An unreadable input: stop, or skip it")
      ->check(CLI::IsMember({"any", "warn"}).description(""))
      ->type_name("any|warn");
  app.add_flag("-0,--null", merge.nul_separated, "Names in lists end with NUL (find -print0)");
  app.add_option("--json", args->json, "Write the report as JSON, with the sha256 of the profile")
      ->type_name("FILE");
  app.add_option("--depfile", args->depfile, "Write what was read, for make and ninja")
      ->type_name("FILE");
  app.add_option("-j,--jobs", merge.jobs, "Files read at a time: the number of CPUs")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
}

Status Interpret(Arguments* args) {
  MergeOptions& merge = args->merge;
  if (args->has_percentile->count() > 0) merge.percentile = args->percentile;
  if (args->has_collective_percentile->count() > 0) {
    merge.collective_percentile = args->collective_percentile;
  }
  merge.keys = KeyModeNamed(args->keys);
  merge.skip_unreadable = args->failure_mode == "warn";
  merge.spool_directory = cli::SpoolDirectory();
  merge.want_profile = !args->output.empty() || !merge.per_module.empty();
  merge.outputs = {args->output, merge.samples_out};
  if (!merge.want_profile && merge.samples_out.empty()) {
    return UsageError("", "nothing to write", "name a profile with -o FILE.pb");
  }
  if ((args->output == "-") + (args->json == "-") + (merge.samples_out == "-") > 1) {
    return UsageError("-", "standard output is taken twice", "name a file for one of them");
  }
  if (!args->depfile.empty() && args->output.empty()) {
    return UsageError("--depfile", "has no target", "name a profile with -o FILE.pb");
  }
  if (!args->output.empty() && args->output != "-") {
    PGLE_ASSIGN_OR_RETURN([[maybe_unused]] const ProfileFormat format,
                          ProfileFormatFor(args->output));
  }
  PGLE_RETURN_IF_ERROR(cli::CheckBinaryOutput(merge.samples_out));
  return cli::CheckBinaryOutput(args->output);
}

Status WriteOutputs(const Arguments& args, const Merged& merged, MergeContext* context) {
  OutputSet outputs;
  if (!args.merge.samples_out.empty()) context->also_written.push_back(args.merge.samples_out);
  if (!args.merge.per_module.empty()) {
    PGLE_RETURN_IF_ERROR(StageModuleFiles(args.merge.per_module, merged.modules, &outputs));
    context->also_written.insert(context->also_written.end(), merged.module_files.begin(),
                                 merged.module_files.end());
  }
  if (args.output.empty()) return outputs.Commit();
  const ProfileFormat format =
      args.output == "-" ? ProfileFormat::kBinary : ProfileFormatFor(args.output).value();
  const std::string bytes = SerializeProfile(merged.keyed.profile, format);
  PGLE_RETURN_IF_ERROR(outputs.Stage(args.output, bytes));
  context->output = args.output;
  context->output_sha256 = ToHex(Sha256Of(bytes));
  if (args.depfile.empty()) return outputs.Commit();
  std::vector<std::string> files;
  for (const MergeInput& input : merged.inputs) files.push_back(input.file);
  PGLE_RETURN_IF_ERROR(outputs.Stage(args.depfile, FormatDepfile(args.output, files)));
  return outputs.Commit();
}

int Run(int argc, char** argv) {
  Arguments args;
  cli::CommonOptions common;
  CLI::App app(
      "Merges the profiles or samples of all processes of a job into one profile, the same\n"
      "for every host.",
      kTool);
  args.merge.jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
  AddOptions(app, &args);
  cli::AddCommonOptions(app, &common);
  app.footer(kExamples);
  if (const std::optional<int> status = cli::Parse(app, argc, argv)) return *status;
  const cli::Messages messages(kTool, common);
  if (const Status status = Interpret(&args); !status.ok()) return messages.Fail(status.error());

  Result<Merged> merged = [&] {
    const cli::Progress progress(common, "merging");
    return Merge(args.merge);
  }();
  if (!merged.ok()) return messages.Fail(merged.error());
  MergeContext context;
  context.version = PGLE_VERSION;
  context.expected_processes = args.merge.expect_processes;
  context.verbose = common.verbose;
  Status status;
  if (merged->refusal) {
    status = *merged->refusal;
  } else {
    status = WriteOutputs(args, *merged, &context);
  }
  if (!args.json.empty()) {
    const Status json = WriteFileAtomically(args.json, FormatMergeJson(*merged, context));
    if (!json.ok() && status.ok()) status = json.error();
  }
  messages.Print(merged->diagnostics);
  messages.Report(FormatMergeText(*merged, context));
  return status.ok() ? 0 : messages.Fail(status.error());
}

}  // namespace
}  // namespace pgle

int main(int argc, char** argv) {
  return pgle::cli::Guard(pgle::kTool, pgle::Run, argc, argv);
}
