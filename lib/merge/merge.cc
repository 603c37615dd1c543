#include "merge/merge.h"

#include "merge/checks.h"
#include "merge/merge_profiles.h"
#include "merge/merge_samples.h"
#include "profile/per_module.h"

namespace pgle {
namespace {

Status CheckOptions(const MergeOptions& options, const InputList& inputs) {
  for (const std::string& output : options.outputs) {
    const std::string same = FindOutputAmong(inputs.files, output);
    if (same.empty()) continue;
    return UsageError(output, "is an input as well, so an old result would be merged again",
                      "write elsewhere, or leave it out of the inputs");
  }
  if (inputs.kind == InputKind::kSamples) return {};
  if (!options.samples_out.empty()) {
    return UsageError("--samples-out", "the inputs are profiles, which hold no samples",
                      "give the sample files that pgle-extract --samples writes");
  }
  if (options.keys != KeyMode::kAuto) {
    return UsageError("--keys", "the inputs are profiles, which keep the keys that they have",
                      "--keys is for sample files");
  }
  return {};
}

}  // namespace

Status PlanOutputs(const MergeOptions& options, Merged* merged) {
  if (options.per_module.empty()) return {};
  Result<std::vector<std::string>> plan = PlanModuleFiles(options.per_module, merged->modules);
  if (plan.ok()) {
    merged->module_files = std::move(*plan);
    return {};
  }
  if (plan.error().code != ErrorCode::kRefused) return plan.error();
  merged->refusal = plan.error();
  return {};
}

Result<Merged> Merge(const MergeOptions& options) {
  PGLE_ASSIGN_OR_RETURN(
      const InputList inputs,
      ResolveMergeInputs(options.inputs, options.nul_separated, options.spool_directory));
  PGLE_RETURN_IF_ERROR(CheckOptions(options, inputs));
  Merged merged;
  merged.kind = inputs.kind;
  if (inputs.kind == InputKind::kSamples) {
    PGLE_RETURN_IF_ERROR(MergeSamples(inputs.files, options, &merged));
  } else {
    PGLE_RETURN_IF_ERROR(MergeProfiles(inputs.files, options, &merged));
    if (!merged.refusal) PGLE_RETURN_IF_ERROR(PlanOutputs(options, &merged));
  }
  return merged;
}

}  // namespace pgle
