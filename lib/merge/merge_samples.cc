#include "merge/merge_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "merge/checks.h"
#include "merge/sample_union.h"
#include "merge/settle_samples.h"
#include "profile/per_module.h"

namespace pgle {
namespace {

struct ReadInput {
  std::optional<Error> error;
  SampleHeader header;
};

// To the end where unreadable files are to be skipped: damage may come late, when half of the
// records are merged.
Status ReadHeader(const std::string& file, bool to_the_end, SampleHeader* header) {
  PGLE_ASSIGN_OR_RETURN(SampleReader reader, SampleReader::Open(file));
  SampleRecord record;
  while (to_the_end) {
    PGLE_ASSIGN_OR_RETURN(const bool any, reader.Next(&record));
    if (!any) break;
  }
  *header = reader.header();
  if (!header->modules.empty()) return {};
  return Failed(file, "holds no module", "its process ran nothing while it was traced");
}

// Names of processes for messages: "hostname/file", and the id's start where two have one name.
class ProcessNames {
 public:
  explicit ProcessNames(const std::vector<ReadInput>& inputs) {
    for (const ReadInput& input : inputs) {
      for (const SampleProcess& process : input.header.processes) ++count_[process.name];
    }
  }
  std::string Of(const SampleProcess& process) const {
    const auto it = count_.find(process.name);
    if (it == count_.end() || it->second < 2) return process.name;
    return fmt::format("{} ({})", process.name, ToHex(process.id).substr(0, 8));
  }

 private:
  std::map<std::string, size_t> count_;
};

std::vector<ModuleVersions> VersionsOf(const std::vector<ReadInput>& inputs,
                                       const ProcessNames& names) {
  std::map<std::pair<std::string, std::string>, ModuleVersions> versions;  // by module and process
  for (const ReadInput& input : inputs) {
    for (const SampleModule& module : input.header.modules) {
      for (const uint32_t index : module.processes) {
        const SampleProcess& process = input.header.processes[index];
        ModuleVersions& version = versions[{module.name, process.id}];
        version.module = module.name;
        version.process = names.Of(process);
        if (!module.fingerprint.empty()) version.fingerprints.push_back(module.fingerprint);
      }
    }
  }
  std::vector<ModuleVersions> result;
  for (auto& [key, version] : versions) {
    std::sort(version.fingerprints.begin(), version.fingerprints.end());
    result.push_back(std::move(version));
  }
  return result;
}

// Sets merged->refusal when a process comes twice.
void CheckRepeatedProcesses(const std::vector<std::string>& files,
                            const std::vector<ReadInput>& inputs, Merged* merged) {
  std::map<std::string, size_t> input_of;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const SampleProcess& process : inputs[i].header.processes) {
      const auto [it, is_new] = input_of.try_emplace(process.id, i);
      if (is_new || merged->refusal) continue;
      const std::string& other = files[it->second];
      merged->refusal =
          Refused(files[i],
                  other == files[i]
                      ? "is named twice"
                      : fmt::format("holds process {}, which {} holds too", process.name, other),
                  "its executions would count twice: leave one of the two out");
    }
  }
  merged->processes = input_of.size();
}

// The header's statistic, unless -p says otherwise. Files that disagree need -p.
Result<std::string> ChooseStatistic(const std::vector<std::string>& files,
                                    const std::vector<ReadInput>& inputs,
                                    const MergeOptions& options) {
  size_t first = 0;
  while (inputs[first].error) ++first;
  for (size_t i = first + 1; i < inputs.size(); ++i) {
    if (inputs[i].error || inputs[i].header.statistic == inputs[first].header.statistic) continue;
    if (options.percentile) return PercentileName(*options.percentile);
    return Refused(
        files[i],
        fmt::format("asks for the statistic {}, but {} for {}", inputs[i].header.statistic,
                    files[first], inputs[first].header.statistic),
        "name the percentile with -p; -p 50 is the median");
  }
  return inputs[first].header.statistic;
}

Result<Statistic> ParseStatistic(const std::string& file, const std::string& name) {
  Result<Statistic> statistic = Statistic::Parse(name);
  if (statistic.ok()) return statistic;
  return Failed(file, fmt::format("asks for the statistic '{}', which is unknown", name),
                "name the percentile with -p");
}

class Pass {
 public:
  Pass(const MergeOptions& options, const ProcessNames& names, const SettleRules& rules,
       const SampleHeader& header, Merged* merged)
      : options_(options), names_(names), rules_(rules), header_(header), merged_(*merged) {
    for (const SampleModule& module : header.modules) {
      costs_.push_back({module.name, module.fingerprint, module.device_time, {}});
    }
  }

  void Add(const SampleRecord& record) {
    ++merged_.samples.records;
    merged_.samples.executions += record.durations.size();
    if (!group_.empty() &&
        (group_.front().module != record.module || group_.front().name != record.name)) {
      Close();
    }
    group_.push_back(record);
  }

  std::vector<ModuleCosts> Finish() {
    Close();
    return std::move(costs_);
  }

 private:
  void Close() {
    if (group_.empty()) return;
    CorrectAcrossProcesses(group_, &merged_.samples);
    const SampleRecord& first = group_.front();
    if (const auto settled = SettleName(group_, rules_)) {
      costs_[first.module].costs.push_back({first.name, settled->cost_us, settled->source});
      if (settled->processes > 0 && settled->source != CostSource::kCalled &&
          settled->processes < header_.modules[first.module].processes.size()) {
        ++merged_.partial_names;
      }
      if (settled->processes > 1 && IsWide(settled->min_us, settled->max_us, options_.max_spread)) {
        merged_.spreads.push_back({first.name, settled->min_us, settled->max_us,
                                   names_.Of(header_.processes[settled->min_process]),
                                   names_.Of(header_.processes[settled->max_process])});
      }
    }
    group_.clear();
  }

  const MergeOptions& options_;
  const ProcessNames& names_;
  const SettleRules& rules_;
  const SampleHeader& header_;
  Merged& merged_;
  std::vector<SampleRecord> group_;  // of one name
  std::vector<ModuleCosts> costs_;
};

Status Assemble(std::vector<ModuleCosts> costs, const MergeOptions& options, Merged* merged) {
  if (!options.want_profile) return {};
  for (const ModuleCosts& module : costs) {
    if (module.fingerprint.empty() || module.costs.empty()) continue;
    Diagnostics ignored;
    PGLE_ASSIGN_OR_RETURN(KeyedProfile keyed,
                          AssembleProfile({module}, KeyMode::kQualified, &ignored));
    merged->modules.push_back({module.fingerprint, std::move(keyed.profile)});
  }
  PGLE_ASSIGN_OR_RETURN(merged->keyed,
                        AssembleProfile(std::move(costs), options.keys, &merged->diagnostics));
  return {};
}

// Reads all records, makes the costs and writes options.samples_out.
Status RunPass(const std::vector<std::string>& files, const std::string& header_statistic,
               const ProcessNames& names, const SettleRules& rules, const MergeOptions& options,
               Merged* merged) {
  PGLE_ASSIGN_OR_RETURN(SampleUnion samples,
                        SampleUnion::Open(files, options.jobs, options.spool_directory));
  SampleHeader header = samples.header();
  header.statistic = header_statistic;
  std::optional<SampleWriter> writer;
  if (!options.samples_out.empty()) {
    PGLE_ASSIGN_OR_RETURN(SampleWriter created, SampleWriter::Create(options.samples_out, header));
    writer.emplace(std::move(created));
  }
  Pass pass(options, names, rules, header, merged);
  SampleRecord record;
  while (true) {
    PGLE_ASSIGN_OR_RETURN(const bool any, samples.Next(&record));
    if (!any) break;
    if (writer) PGLE_RETURN_IF_ERROR(writer->Add(record));
    pass.Add(record);
  }
  PGLE_RETURN_IF_ERROR(Assemble(pass.Finish(), options, merged));
  PGLE_RETURN_IF_ERROR(PlanOutputs(options, merged));
  if (merged->refusal || !writer) return {};
  return writer->Finish();
}

}  // namespace

Status MergeSamples(const std::vector<std::string>& files, const MergeOptions& options,
                    Merged* merged) {
  std::vector<ReadInput> read(files.size());
  RunParallel(files.size(), options.jobs, [&](size_t i, size_t) {
    const Status status = ReadHeader(files[i], options.skip_unreadable, &read[i].header);
    if (!status.ok()) read[i].error = status.error();
  });
  std::vector<Error> errors;
  for (ReadInput& input : read) {
    if (!input.error) continue;
    errors.push_back(*input.error);
    input.header = {};
  }
  PGLE_RETURN_IF_ERROR(SettleUnreadable(std::move(errors), files.size(), options, merged));
  const ProcessNames names(read);
  std::vector<std::string> readable;
  for (size_t i = 0; i < files.size(); ++i) {
    if (read[i].error) continue;
    readable.push_back(files[i]);
    MergeInput& input = merged->inputs.emplace_back();
    input.file = files[i];
    for (const SampleProcess& process : read[i].header.processes) {
      input.processes.push_back(names.Of(process));
    }
  }
  CheckRepeatedProcesses(files, read, merged);
  PGLE_RETURN_IF_ERROR(CheckProcesses(VersionsOf(read, names), options, nullptr, merged));
  if (merged->refusal) return {};
  const Result<std::string> header_statistic = ChooseStatistic(files, read, options);
  if (!header_statistic.ok()) {
    merged->refusal = header_statistic.error();
    return {};
  }
  merged->statistic = options.percentile ? PercentileName(*options.percentile) : *header_statistic;
  merged->collective_statistic = options.collective_percentile
                                     ? PercentileName(*options.collective_percentile)
                                     : merged->statistic;
  SettleRules rules;
  PGLE_ASSIGN_OR_RETURN(rules.statistic, ParseStatistic(readable.front(), merged->statistic));
  PGLE_ASSIGN_OR_RETURN(rules.collective_statistic,
                        ParseStatistic(readable.front(), merged->collective_statistic));
  read.clear();
  PGLE_RETURN_IF_ERROR(RunPass(readable, *header_statistic, names, rules, options, merged));
  ReportSpreads(options, merged);
  return {};
}

}  // namespace pgle
