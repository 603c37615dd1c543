#include <fmt/format.h>

#include <filesystem>

#include "merge/report.h"

namespace pgle {
namespace {

// "1 profile", "2 profiles".
std::string Count(uint64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string StatisticLine(const Merged& merged) {
  if (merged.statistic.empty()) return "";
  if (merged.collective_statistic == merged.statistic) return ", " + merged.statistic;
  return fmt::format(", {} ({} of collectives)", merged.statistic, merged.collective_statistic);
}

void AppendInputs(const Merged& merged, bool verbose, std::string* out) {
  if (merged.kind == InputKind::kSamples) {
    *out += fmt::format("read {} of {} {}", Count(merged.inputs.size(), "sample file"),
                        merged.processes, merged.processes == 1 ? "process" : "processes");
    if (merged.samples.records > 0) {
      *out += fmt::format(": {}, {}", Count(merged.samples.records, "record"),
                          Count(merged.samples.executions, "execution"));
    }
    *out += "\n";
  } else {
    uint64_t entries = 0;
    for (const MergeInput& input : merged.inputs) entries += input.facts.entries;
    *out += fmt::format("read {}, {} of them different: {} {}\n",
                        Count(merged.inputs.size(), "profile"), merged.processes, entries,
                        entries == 1 ? "entry" : "entries");
  }
  if (verbose) {
    for (const MergeInput& input : merged.inputs) *out += fmt::format("  {}\n", input.file);
  }
  if (!merged.skipped.empty()) {
    *out += fmt::format("skipped {} that cannot be read\n", Count(merged.skipped.size(), "input"));
  }
}

void AppendCollectives(const SampleTotals& samples, std::string* out) {
  if (samples.matched + samples.unmatched == 0) return;
  *out += fmt::format("collectives: {} of {} matched across processes", samples.matched,
                      Count(samples.matched + samples.unmatched, "execution"));
  if (samples.matched > 0) {
    *out += fmt::format("; {:.1f} of {:.1f} us was above the fastest participant and is left out",
                        ToMicroseconds(samples.removed), ToMicroseconds(samples.plain));
  }
  *out += "\n";
}

}  // namespace

std::string FormatMergeText(const Merged& merged, const MergeContext& context) {
  std::string out;
  AppendInputs(merged, context.verbose, &out);
  AppendCollectives(merged.samples, &out);
  if (merged.partial_names > 0) {
    out +=
        fmt::format("{} {} not in every {}: taken over those that have {}\n",
                    Count(merged.partial_names, "name"), merged.partial_names == 1 ? "is" : "are",
                    merged.kind == InputKind::kProfiles ? "profile" : "process",
                    merged.partial_names == 1 ? "it" : "them");
  }
  if (!context.output.empty()) {
    out += fmt::format("wrote {}: {}, keys {}{}, sha256 {}\n", context.output,
                       Count(merged.keyed.profile.costs.size(), "cost"),
                       ToString(merged.keyed.mode), StatisticLine(merged), context.output_sha256);
  }
  if (context.also_written.size() <= 3 || context.verbose) {
    for (const std::string& file : context.also_written) out += fmt::format("wrote {}\n", file);
  } else {
    out += fmt::format("wrote {} and {} more files\n", context.also_written.front(),
                       context.also_written.size() - 1);
  }
  if (!context.output.empty() && context.output != "-") {
    std::error_code error;
    out += fmt::format(
        "next: on every host, XLA_FLAGS=\"$XLA_FLAGS "
        "--xla_gpu_pgle_profile_file_or_directory_path={}\" COMMAND\n",
        std::filesystem::absolute(context.output, error).lexically_normal().string());
  }
  return out;
}

}  // namespace pgle
