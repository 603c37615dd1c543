#!/usr/bin/env bash
# A program that was recorded on two H200s with command buffers on: what the recorder wrote becomes a run,
# and holds what jax.profiler saw of the same program without command buffers.
. "$(dirname "$0")/lib.sh"
recorded=$data/runs/captured
logs=$work/logs
private=$logs/.pgle-capture/recorded/vm_p14992
mkdir -p "$private/hlo"
zstd -dq "$recorded/spill/p14993.pgle.zst" -o "$private/p14993.pgle"
for hlo in "$recorded"/hlo/*.zst; do
  zstd -dq "$hlo" -o "$private/hlo/$(basename "${hlo%.zst}")"
done
for run in jax_profiler jax_profiler_no_command_buffers; do
  zstd -dq "$recorded/$run/vm.xplane.pb.zst" -o "$work/$run.xplane.pb"
done

# As after a capture whose launcher was killed.
"$bin/pgle-capture" --recover "$private" 2>"$work/stderr" || { fail "--recover"; cat "$work/stderr" >&2; }
trace=$(echo "$logs"/plugins/profile/recorded/*.xplane.pb)
[ -f "$trace" ] || { fail "no run was written"; finish; }

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$data/../scripts/gpu python3 - "$trace" "$work" <<'END' || fail "the run is not what jax.profiler saw"
import sys
import compare_traces
trace, work = sys.argv[1:]
plain = compare_traces.compare([f"{work}/jax_profiler_no_command_buffers.xplane.pb"], [trace], 3)
hidden = compare_traces.compare([f"{work}/jax_profiler.xplane.pb"], [trace], 3, by_kernel=True)
assert plain["same_program"] or plain["module"] == "jit_train_step", plain
# The same kernels, the same number of them a step, under the same ops.
assert plain["kernels_a_step"] == [240, 240], plain["kernels_a_step"]
assert not plain["differences_by_op"], plain["differences_by_op"]
assert plain["a"]["ops"] == plain["b"]["ops"] and len(plain["b"]["ops"]) > 100
assert plain["b"]["by_count"] == plain["b"]["by_time"] == 1
# jax.profiler saw as many kernels with command buffers on, but not whose they are.
assert hidden["kernels_a_step"] == [240, 240], hidden["kernels_a_step"]
assert not hidden["differences"], hidden["differences"]
assert hidden["a"]["by_time"] < 0.9 and hidden["a"]["command_buffers"] > 0
assert hidden["b"]["command_buffers"] == 0
END

# The profile holds the names that the one of the program without command buffers holds.
"$bin/pgle-extract" "$trace" -o "$work/ours.pbtxt" 2>"$work/stderr" || fail "pgle-extract"
grep -q 'coverage  *100.0 %' "$work/stderr" || fail "coverage: $(grep coverage "$work/stderr")"
"$bin/pgle-extract" "$work/jax_profiler_no_command_buffers.xplane.pb" -o "$work/plain.pbtxt" 2>/dev/null ||
  fail "pgle-extract of the run without command buffers"
names() { grep -o 'name: "[^"]*"' "$1" | sort; }
names "$work/ours.pbtxt" >"$work/ours"
names "$work/plain.pbtxt" >"$work/plain"
cmp -s "$work/ours" "$work/plain" || { fail "names differ"; diff "$work/ours" "$work/plain" | head >&2; }
finish
