#!/usr/bin/env bash
# The report on standard error and in JSON.
. "$(dirname "$0")/lib.sh"
extract=$bin/pgle-extract

run 0 "$extract" "$data/runs/command_buffers/trace" -o "$work/p.pb" --json "$work/r.json"
tail -n 1 "$work/stderr" | grep -qE \
  'warning: jit_train_step: 36\.9 % of the device time is in 19 command buffers that hide 161 instructions; record with pgle-capture, .* XLA_FLAGS=--xla_gpu_enable_command_buffer=' ||
  fail "the last line is not the warning about command buffers"
says 'and 151 more; -v lists all'
says '^next: XLA_FLAGS=.*--xla_gpu_pgle_profile_file_or_directory_path=/'
run 0 "$extract" "$data/runs/command_buffers/trace" -o "$work/p.pb" -v
[ "$(grep -c '    missing ' "$work/stderr")" -eq 161 ] || fail "-v does not list all that is missing"
run 0 "$extract" "$data/runs/command_buffers/trace" -o "$work/p.pb" -q
[ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "-q prints more than the warning"

python3 - "$work/r.json" "$data/../man/pgle-extract.1" <<'PYTHON' || fail "JSON report"
import json, re, sys
report = json.load(open(sys.argv[1]))
assert list(report)[0] == "schema" and report["schema"] == "pgle.extract.report/1", report["schema"]
module, = report["modules"]
assert module["module"] == "jit_train_step"
assert len(module["fingerprint"]) == 32
assert module["command_buffers"] == 19
assert len(module["coverage"]["missing"]) == 161
assert {m["reason"] for m in module["coverage"]["missing"]} == {"hidden in a command buffer"}
assert module["coverage"]["left_to_xla"] == ["fusion-done", "fusion-start"]
assert abs(module["command_buffer_us"] / report["device_time_us"] - 0.369) < 0.0005
assert report["profile"]["costs"] == 204 and len(report["profile"]["sha256"]) == 64
assert report["diagnostics"][-1]["severity"] == "warning"
# The man page describes every key.
words = set(re.findall(r"[a-z_0-9]+", open(sys.argv[2]).read()))
def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)
missing = set(keys(report)) - words
assert not missing, missing
PYTHON

# Hosts, devices, executions, waiting taken out.
run 0 "$extract" "$data/runs/two_process/trace" -o "$work/p.pb" --json -
says '^read vm/host0.xplane.pb.zst: 1 device, 840 events'
says '^read vm/host1.xplane.pb.zst: 1 device, 840 events'
says 'ran         6 times over all devices, 1584 executions'
says 'collectives 330 of 330 executions matched'
python3 -c 'import json,sys; r = json.load(open(sys.argv[1])); assert len(r["processes"]) == 2' \
  "$work/stdout" || fail "--json -"

# One process of two: the collectives are wider than what was traced.
run 0 "$extract" "$data/runs/two_process/trace/host0.xplane.pb.zst" -o "$work/p.pb"
says 'warning: .*span more devices than were traced'

# A recorder that dropped events says so in the trace, and so does the report.
zstd -dqc "$data/runs/fsdp_scan/trace/vm.xplane.pb.zst" >"$work/vm.xplane.pb"
printf '\x1a\x22Dropped 12 of 2097152 GPU events.' >>"$work/vm.xplane.pb" # XSpace.warnings
printf ' ' >>"$work/vm.xplane.pb"
run 0 "$extract" "$work/vm.xplane.pb" -o "$work/p.pb" --json "$work/r.json"
says 'warning: vm/vm.xplane.pb: the recorder of this trace says: Dropped 12 of 2097152 GPU events'
says 'loop_compare_fusion \(the recorder dropped events\)'

# Colour only where it is wanted.
run 0 "$extract" "$data/runs/command_buffers/trace" -o "$work/p.pb" -q --color always
grep -q $'\x1b' "$work/stderr" || fail "--color always"
run 0 "$extract" "$data/runs/command_buffers/trace" -o "$work/p.pb" -q
grep -q $'\x1b' "$work/stderr" && fail "colour in a file"

# jaxlib's own result.
run 0 "$extract" "$data/runs/fsdp_scan/trace" -o "$work/j.pb" --compat jaxlib
says '158 costs as jaxlib writes them'
finish
