#include "capture/rank.h"

#include <doctest/doctest.h>

namespace pgle {
namespace {

using Entries = std::vector<std::string>;

Rank RankOf(Entries entries) {
  return FindRank(Environment(std::move(entries)));
}

TEST_CASE("a process alone has no rank") {
  const Rank rank = RankOf({"PATH=/bin", "RANKS=3", "RANK=", "JAX_PROCESS_ID=first"});
  CHECK(!rank.rank);
  CHECK(!rank.is_one_of_several());
  CHECK(rank.job == "");
}

TEST_CASE("a rank of one is not one of several; of unknown many it is") {
  CHECK(!RankOf({"RANK=0", "WORLD_SIZE=1"}).is_one_of_several());
  CHECK(RankOf({"RANK=0"}).is_one_of_several());
  CHECK(RankOf({"JAX_PROCESS_ID=1", "JAX_NUM_PROCESSES=2"}).is_one_of_several());
}

TEST_CASE("Slurm: rank, number and step") {
  const Rank rank =
      RankOf({"SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_JOB_ID=12", "SLURM_STEP_ID=1"});
  CHECK(*rank.rank == 5);
  CHECK(rank.ranks == 8);
  CHECK(rank.variable == "SLURM_PROCID");
  CHECK(rank.job == "slurm_12_1");
  CHECK(RankOf({"SLURM_PROCID=0", "SLURM_JOB_ID=12", "SLURM_RESTART_COUNT=2"}).job ==
        "slurm_12_restart2");
  CHECK(RankOf({"SLURM_PROCID=0", "SLURM_JOB_ID=12", "SLURM_RESTART_COUNT=0"}).job == "slurm_12");
}

TEST_CASE("an allocation alone makes no rank") {
  CHECK(!RankOf({"SLURM_JOB_ID=12", "SLURM_NTASKS=8"}).rank);
}

TEST_CASE("mpirun in a Slurm job: its rank and its job, not those of the batch script") {
  const Entries batch = {"SLURM_PROCID=0", "SLURM_NTASKS=16", "SLURM_JOB_ID=12"};
  Entries entries = batch;
  entries.insert(entries.end(), {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=3",
                                 "PMIX_NAMESPACE=prterun-a-1@1"});
  const Rank rank = RankOf(entries);
  CHECK(*rank.rank == 3);
  CHECK(rank.ranks == 4);
  CHECK(rank.job == "mpi_prterun-a-1@1");
  CHECK(RankOf({"OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_ess_base_jobid=77"}).job == "mpi_77");
}

TEST_CASE("PMI") {
  const Rank slurm = RankOf(
      {"PMIX_RANK=2", "SLURM_PROCID=2", "SLURM_NTASKS=4", "SLURM_JOB_ID=12", "SLURM_STEP_ID=0"});
  CHECK(slurm.ranks == 4);
  CHECK(slurm.job == "slurm_12_0");
  const Rank hydra = RankOf({"PMI_RANK=1", "PMI_SIZE=2"});
  CHECK(*hydra.rank == 1);
  CHECK(hydra.ranks == 2);
  CHECK(hydra.job == "");
}

TEST_CASE("the environment: values, and what is set over them") {
  Environment environment({"A=1", "AB=2", "A_=", "NOTHING"});
  CHECK(*environment.Get("A") == "1");
  CHECK(*environment.Get("A_") == "");
  CHECK(!environment.NonEmpty("A_"));
  CHECK(!environment.Get("NOTHING"));
  CHECK(*environment.Number("AB") == 2);
  CHECK(!Environment({"N=12x"}).Number("N"));
  environment.Set("A", "3=4");
  environment.Set("NEW", "x y");
  CHECK(*environment.Get("A") == "3=4");
  std::string all;
  for (char* entry : environment.Pointers())
    all += entry == nullptr ? "|" : std::string(entry) + ";";
  CHECK(all == "AB=2;A_=;NOTHING;A=3=4;NEW=x y;|");
}

}  // namespace
}  // namespace pgle
