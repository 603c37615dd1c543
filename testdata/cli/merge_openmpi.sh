#!/usr/bin/env bash
# The Open MPI recipe, for real, with four ranks on this machine.
command -v mpirun >/dev/null || { echo "mpirun (openmpi-bin) is not installed" >&2; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/recipe_lib.sh"

export PGLE_PROFILE=$work/local.pb
ranks=4
mpi=(-np $ranks --oversubscribe --mca btl self,vader --mca plm isolated)
if [ "$(id -u)" -eq 0 ]; then mpi+=(--allow-run-as-root); fi
run 0 "$recipes/openmpi-pgle" "${mpi[@]}"
check_result $ranks "$PGLE_PROFILE"

# A rank that fails stops the job, and no profile is left.
PGLE_CAPTURE='[ "$OMPI_COMM_WORLD_RANK" != 2 ] || exit 5;'$PGLE_CAPTURE
run 1 "$recipes/openmpi-pgle" "${mpi[@]}"
says 'error: rank 2: the captured command failed with status 5'
absent "$PGLE_DIR/merged.pb"
finish
