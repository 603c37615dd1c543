# Sourced by the tests of the recipes, after lib.sh: stands in for a capture on four ranks, and checks
# what came out. The two shipped traces of a job of two processes serve four ranks: an unknown field
# at the end makes another process of a copy.
recipes=$(cd "$data/../scripts/recipes" && pwd)
bin=$(cd "$bin" && pwd)
data=$(cd "$data" && pwd)
export PATH=$bin:$PATH
export PGLE_DIR=$work/pgle PGLE_FANIN=2 PGLE_SCRATCH=$work PGLE_TRACES=$data/runs/two_process/trace
export PGLE_CAPTURE='r=${SLURM_PROCID:-$OMPI_COMM_WORLD_RANK}
zstd -dqc "$PGLE_TRACES/host$((r % 2)).xplane.pb.zst" >"$PGLE_LOGS/host$r.xplane.pb"
printf "\172\001%s" "$r" >>"$PGLE_LOGS/host$r.xplane.pb"'
mkdir "$PGLE_DIR"

# check_result RANKS PROFILE: a tree was merged, it gave what one merge gives, and every rank has
# the file.
check_result() {
  local ranks=$1 profile=$2 sum
  [ -s "$PGLE_DIR/level1/1.samples" ] || fail "no tree was merged"
  pgle-merge -q "$PGLE_DIR/level0" -o "$work/flat.pb"
  same "$work/flat.pb" "$PGLE_DIR/merged.pb"
  same "$work/flat.pb" "$profile"
  sum=$(sha256sum "$work/flat.pb" | cut -d' ' -f1)
  for ((rank = 0; rank < ranks; ++rank)); do
    grep -q "^rank $rank on .*$sum\$" "$work/stdout" || fail "rank $rank does not have the file"
  done
}
