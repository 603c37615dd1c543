#!/usr/bin/env bash
# What others read of a recording: pgle-extract, jaxlib's extraction and the xprof package. The
# recording is made from HLO and traces of real runs.
. "$(dirname "$0")/lib.sh"
spill_tool=$bin/spill_tool
python=$data/../build/python/bin/python
runs=$data/runs
hlo=$runs/command_buffers/hlo/profiled

run 0 "$spill_tool" hlo "$hlo"/module_2667.*.hlo.pb.zst "$work/graph.spill"
mkdir -p "$work/graph" "$work/launches"
run 0 "$spill_tool" convert "$work/graph.spill" "$work/graph/vm.xplane.pb" "$hlo"
run 0 "$spill_tool" compress "$work/graph.spill" "$work/packed.xplane.pb.zst" "$hlo"
zstd -dqc "$work/packed.xplane.pb.zst" >"$work/unpacked"
# The host's name is that of the file, and all else is the same.
[ "$(wc -c <"$work/unpacked")" -eq $(($(wc -c <"$work/graph/vm.xplane.pb") + 4)) ] ||
  fail "--compress changes what is written"

# pgle-extract names every op that the scheduler asks for, though all ran inside one graph.
run 0 "$bin/pgle-extract" "$work/graph/vm.xplane.pb" -o "$work/graph.pb" --json "$work/graph.json"
says 'fingerprint 89668ebd23ecb7cc1ad6a33a7b1a1208'
says 'coverage    100.0 % of 262 instructions'
says 'costs       262 instructions'

# The same steps as jax.profiler recorded them cost the same.
trace=$runs/command_buffers/trace/vm.xplane.pb.zst
run 0 "$spill_tool" trace "$trace" "$work/launches.spill"
run 0 "$spill_tool" convert "$work/launches.spill" "$work/launches/vm.xplane.pb" "$hlo"
run 0 "$bin/pgle-extract" "$trace" -o "$work/jax.pb"
run 0 "$bin/pgle-extract" "$work/launches/vm.xplane.pb" -o "$work/ours.pb"
same "$work/jax.pb" "$work/ours.pb"
theirs=$(zstd -dqc "$trace" | wc -c)
ours=$(wc -c <"$work/launches/vm.xplane.pb")
[ $((ours * 3)) -le "$theirs" ] || fail "$ours bytes are more than a third of jax.profiler's $theirs"

if [ ! -x "$python" ]; then
  finish || exit 1
  echo "skipped: jaxlib and xprof are not installed: run scripts/python-env" >&2
  exit 77
fi
"$python" "$(dirname "$0")/capture_xprof.py" "$work/graph/vm.xplane.pb" \
  "$work/launches/vm.xplane.pb" "$trace" "$work" 2>"$work/stderr" || {
  fail "capture_xprof.py"
  grep -v '^[WIE]0000' "$work/stderr" | tail -n 20 >&2
}
finish
