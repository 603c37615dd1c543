#!/usr/bin/env bash
# The Slurm recipe, for real: munged, slurmctld and slurmd of a cluster of one node on loopback, with
# four ranks.
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch srun; do
  command -v $program >/dev/null || { echo "$program (slurm-wlm, munge) is not installed" >&2; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "slurmd needs root" >&2; exit 77; }
[ -n "$(ls /sys/fs/cgroup 2>/dev/null)" ] || { echo "slurmd needs /sys/fs/cgroup" >&2; exit 77; }
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/recipe_lib.sh"

cluster=$work/cluster
host=$(hostname -s)
mkdir -p "$cluster"/{state,spool}
chmod 755 "$work" "$cluster"
daemons=()
stop() {
  local pid
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT
logs() { for log in "$cluster"/*.log; do echo "== $log"; tail -20 "$log"; done >&2; }

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local tries=$(($1 * 5))
  shift
  while ! "$@" >/dev/null 2>&1; do
    ((tries-- > 0)) || return 1
    sleep 0.2
  done
}

dd if=/dev/urandom of="$cluster/munge.key" bs=1024 count=1 status=none
chmod 600 "$cluster/munge.key"
munged --foreground --key-file="$cluster/munge.key" --socket="$cluster/munge.socket" \
  --pid-file="$cluster/munge.pid" --seed-file="$cluster/munge.seed" --log-file="$cluster/munge.log" \
  --force >"$cluster/munge.out.log" 2>&1 &
daemons+=($!)
wait_for 10 test -S "$cluster/munge.socket" || { logs; fail "munged does not start"; exit 1; }

read -r controller_port node_port < <(python3 -c '
import socket
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(s.getsockname()[1] for s in sockets))')
cat >"$cluster/slurm.conf" <<END
ClusterName=pgle
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$cluster/munge.socket
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
MailProg=/bin/true
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=500
PartitionName=main Nodes=$host Default=YES State=UP MaxTime=5
END
export SLURM_CONF=$cluster/slurm.conf
slurmctld -D -c >"$cluster/slurmctld.out.log" 2>&1 &
daemons+=($!)
slurmd -D -N "$host" >"$cluster/slurmd.out.log" 2>&1 &
daemons+=($!)
idle() { sinfo -h -o %t | grep -qx idle; }
wait_for 30 idle || { logs; fail "the node does not become idle: $(sinfo -h -o '%t %E' 2>&1)"; exit 1; }

export PGLE_PROFILE=$work/local.pb PGLE_RECIPES=$recipes
ended() { scontrol show job "$1" | grep -oE 'JobState=(COMPLETED|FAILED|TIMEOUT|CANCELLED)'; }
job() { # job STATE: submits the recipe and waits for its end
  local id
  run 0 sbatch --parsable --ntasks=4 --output="$work/job.out" --chdir="$work" \
    "$recipes/slurm-pgle.sbatch"
  id=$(cat "$work/stdout")
  wait_for 60 ended "$id" || fail "the job does not end"
  [ "$(ended "$id")" = "JobState=$1" ] || fail "the job is $(ended "$id"), not $1"
  cp "$work/job.out" "$work/stdout"
}
job COMPLETED
check_result 4 "$PGLE_PROFILE"
((failures == 0)) || { cat "$work/job.out" >&2; logs; }

# A rank that fails stops the job, and no profile is left.
PGLE_CAPTURE='[ "$SLURM_PROCID" != 2 ] || exit 5;'$PGLE_CAPTURE
job FAILED
grep -q 'error: rank 2: the captured command failed with status 5' "$work/stdout" ||
  fail "the failing rank is not named"
absent "$PGLE_DIR/merged.pb"
finish
