#!/usr/bin/env bash
# Several processes and ranks go into one run directory without collisions.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/capture_lib.sh"
host=$(uname -n)

# Slurm: the run is the job's step.
export SLURM_JOB_ID=77 SLURM_STEP_ID=3 SLURM_NTASKS=3
pids=()
for rank in 0 1 2; do
  SLURM_PROCID=$rank "$capture" -q -o "$logs" --json "$work/rank%r.json" -- "$client" $steps end &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || fail "a rank failed with $?"; done
for rank in 0 1 2; do
  traces | grep -qE "^./slurm_77_3/${host}_r${rank}_p[0-9]+\.xplane\.pb\$" || fail "no trace of rank $rank"
  grep -q "\"rank\": $rank" "$work/rank$rank.json" || fail "the report of rank $rank"
done
[ "$(traces | wc -l)" -eq 3 ] || fail "traces: $(traces)"
nothing_private
run 125 env SLURM_PROCID=1 "$capture" -o "$logs" -- true
says 'already holds a trace of this host and rank'
run 125 env SLURM_PROCID=1 "$capture" -o "$logs" --run two --json "$work/times.json" -- touch "$work/started"
says "error: --json: all ranks would write .*put %r in it"
absent "$work/started"
run 0 env SLURM_PROCID=0 SLURM_NTASKS=1 "$capture" -o "$logs" --run one -- "$client" $steps end
traces | grep -qE "^./one/${host}_p[0-9]+\." || fail "a single task has a rank in its name"

# mpirun inside a Slurm job: its own ranks count, not those of the batch script.
export OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=prterun-x-9@1
for rank in 0 1; do
  run 0 env SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=$rank "$capture" -o "$logs" -- "$client" $steps end
  traces | grep -qE "^./mpi_prterun-x-9@1/${host}_r${rank}_p[0-9]+\." || fail "no trace of rank $rank"
done
# Ranks that record fewer steps than asked for do not record the same ones; a single process may.
run 125 env SLURM_PROCID=0 OMPI_COMM_WORLD_RANK=0 "$capture" -o "$logs" --run few --steps 10:17 -- "$client" $steps end
says "error: .*/few/.*xplane\.pb: has 5 of the 7 steps asked for: \[10, 15\) of \[10, 17\); as told; all ranks "
unset SLURM_JOB_ID SLURM_STEP_ID SLURM_NTASKS OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE

run 0 "$capture" -o "$logs" --run few1 --steps 8:15 -- "$client" $steps end
says "warning: .*/few1/.*xplane\.pb: has 5 of the 7 steps asked for: \[10, 15\) of \[8, 15\); as told; give later"

# Ranks of which nobody knows the job.
run 125 env RANK=1 WORLD_SIZE=2 "$capture" -o "$logs" -- touch "$work/started"
one_line_error
says 'RANK: there are several ranks, .*give --run NAME, the same on all ranks'
absent "$work/started"
run 0 env RANK=1 WORLD_SIZE=2 "$capture" -o "$logs" --run named -- "$client" $steps end
traces | grep -q "^./named/${host}_r1_p" || fail "--run with a rank"
run 0 env RANK=0 WORLD_SIZE=1 "$capture" -o "$logs" -- "$client" $steps end
traces | grep -qE "^./[0-9]{4}(_[0-9]{2}){5}/${host}_p[0-9]+\." || fail "one process is named by time"

# Several processes of one command; two at the same second get runs of their own.
run 0 "$capture" -o "$logs" --run spawn -- bash -c '"$@" & "$@"; wait' bash "$client" $steps end
[ "$(traces | grep -c '^./spawn/')" -eq 2 ] || fail "traces of two processes: $(traces)"
rm -r "$logs"
for i in 1 2 3; do "$capture" -q -o "$logs" -- "$client" $steps end & done
wait
[ "$(traces | cut -d/ -f2 | sort -u | wc -l)" -eq 3 ] || fail "runs share a name: $(traces)"
nothing_private
finish
