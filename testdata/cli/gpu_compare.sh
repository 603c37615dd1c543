#!/usr/bin/env bash
# What scripts/gpu-check judges by: its reader and its comparison, on recorded runs.
. "$(dirname "$0")/lib.sh"
scripts=$data/../scripts
runs=$data/runs
export PYTHONDONTWRITEBYTECODE=1
compare="python3 $scripts/gpu/compare_traces.py"

# holds EXPRESSION: of the answer `c` on standard output.
holds() {
  python3 -c "import json, sys; c = json.load(open(sys.argv[1])); assert $1" "$work/stdout" \
    2>/dev/null || fail "does not hold: $1"
}

trace=$runs/fsdp_unrolled/trace/vm.xplane.pb.zst
run 0 $compare --steps 3 "$trace" "$trace"
holds 'c["module"] == "jit_train_step" and c["same_program"]'
holds 'c["kernels_a_step"] == [1038, 1038] and c["differences"] == []'
holds 'c["times"]["compute"]["ops"] == c["times"]["compute"]["within_2_percent"] == 389'
holds 'c["b"]["by_count"] == 1 and len(c["b"]["ops"]) == 495'

# jax.profiler names 103 of 264 ops where command buffers run.
run 0 $compare --steps 3 "$runs/two_process/trace/host0.xplane.pb.zst" \
  "$runs/command_buffers/trace/vm.xplane.pb.zst"
holds 'len(c["a"]["ops"]) == 264 and len(c["b"]["ops"]) == 103'
holds 'c["b"]["command_buffers"] == 19 and c["b"]["in_graphs"] == 1008'
holds 'not c["same_program"] and c["differences"]'

# Two processes: a file each, in the same order on both sides.
both="$runs/two_process/trace/host0.xplane.pb.zst $runs/two_process/trace/host1.xplane.pb.zst"
run 0 $compare --steps 3 $both -- $both
holds 'c["kernels_a_step"] == [560, 560] and c["differences"] == [] and c["same_program"]'

# A recorder that loses a kernel, and one that makes everything 5 % longer.
cat >"$work/altered.py" <<'PY'
import json
import sys

sys.path.insert(0, sys.argv[1])
import compare_traces
import xspace

trace = xspace.read_trace(sys.argv[2])
read = {
    "whole": trace,
    "lossy": trace._replace(devices={d: e[1:] for d, e in trace.devices.items()}),
    "long": trace._replace(devices={
        d: [x._replace(duration=x.duration * 105 // 100) for x in e]
        for d, e in trace.devices.items()}),
}
xspace.read_trace = read.get
print(json.dumps({b: compare_traces.compare(["whole"], [b], 3) for b in ("lossy", "long")}))
PY
run 0 python3 "$work/altered.py" "$scripts/gpu" "$trace"
holds 'len(c["lossy"]["differences"]) == 2 and c["long"]["differences"] == []'
holds '0.049 < c["long"]["times"]["compute"]["total_off"] < 0.051'
holds 'c["long"]["times"]["compute"]["within_2_percent"] < 100'

run 1 $compare --steps 3 "$trace"
run 2 "$scripts/gpu-check"
complains 'scripts/gpu-check BIN_DIR OUT_DIR'
PARTS=loops run 2 "$scripts/gpu-check" "$bin" "$work/out"
complains 'no part loops'
absent "$work/out"

finish
