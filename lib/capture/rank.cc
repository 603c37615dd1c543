#include "capture/rank.h"

namespace pgle {
namespace {

enum class Job { kSlurm, kPmix, kOpenMpi, kNone };

struct Source {
  const char* rank;
  const char* size;
  Job job;
};

constexpr Source kSources[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", Job::kOpenMpi},
    {"PMIX_RANK", "SLURM_NTASKS", Job::kPmix},
    {"PMI_RANK", "PMI_SIZE", Job::kSlurm},
    {"SLURM_PROCID", "SLURM_NTASKS", Job::kSlurm},
    {"JAX_PROCESS_ID", "JAX_NUM_PROCESSES", Job::kNone},
    {"RANK", "WORLD_SIZE", Job::kNone},
};

std::string SlurmJob(const Environment& environment) {
  const auto job = environment.NonEmpty("SLURM_JOB_ID");
  if (!job || !environment.NonEmpty("SLURM_PROCID")) return "";
  std::string name = "slurm_" + *job;
  if (const auto step = environment.NonEmpty("SLURM_STEP_ID")) name += "_" + *step;
  // A requeued job keeps its id.
  const auto restarts = environment.Number("SLURM_RESTART_COUNT");
  if (restarts && *restarts > 0) name += "_restart" + std::to_string(*restarts);
  return name;
}

std::string JobOf(Job kind, const Environment& environment) {
  if (kind == Job::kNone) return "";
  if (kind == Job::kSlurm) return SlurmJob(environment);
  if (const auto name = environment.NonEmpty("PMIX_NAMESPACE")) return "mpi_" + *name;
  if (kind == Job::kOpenMpi) {
    if (const auto id = environment.NonEmpty("OMPI_MCA_ess_base_jobid")) return "mpi_" + *id;
  }
  // PMIx without a name space can only have come from srun.
  return kind == Job::kPmix ? SlurmJob(environment) : "";
}

}  // namespace

Rank FindRank(const Environment& environment) {
  Rank result;
  for (const Source& source : kSources) {
    result.rank = environment.Number(source.rank);
    if (!result.rank) continue;
    result.variable = source.rank;
    // SLURM_NTASKS is also set where the allocation, but not this process, is of that size.
    const bool is_of_slurm = std::string_view(source.size) == "SLURM_NTASKS";
    if (!is_of_slurm || environment.NonEmpty("SLURM_PROCID")) {
      result.ranks = environment.Number(source.size).value_or(0);
    }
    result.job = JobOf(source.job, environment);
    return result;
  }
  return result;
}

}  // namespace pgle
