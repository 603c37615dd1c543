#!/usr/bin/env bash
# From a program to a profile: launcher, recorder, converter and pgle-extract, on a program that does
# what XLA does, on a driver and a CUPTI that are none.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fake_lib.sh"
. "$(dirname "$0")/capture_lib.sh"
capture=$(cd "$bin" && pwd)/pgle-capture
train() { # train OPTIONS...: words of a command
  command=("$fake/fake_xla" --cupti "$cupti" --truth "$work/truth" "$@")
}
json() {
  python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert eval(sys.argv[2]), r' \
    "$work/report.json" "$1" 2>"$work/assertion" || { fail "not in the report: $1"; tail -1 "$work/assertion" >&2; }
}

# on_time STATUS COMMAND...: as run, and again where the machine had too much else to do for the
# window to begin with the step asked for.
on_time() {
  local before=$failures attempt
  for attempt in 1 2 3; do
    run "$@" 2>"$work/tried"
    grep -q 'behind the first one asked for' "$work/stderr" || {
      cat "$work/tried" >&2
      return 0
    }
    failures=$before
  done
  fail "the recorder came late three times: $*"
}

train --steps 120 --devices 2 --step-ms 4 --graphs
on_time 0 "$capture" -o "$logs" --steps 40:45 --json "$work/report.json" -- "${command[@]}"
json 'r["is_whole"] and len(r["processes"]) == 1 and r["processes"][0]["state"] == "closed"'
json 'r["processes"][0]["window"]["first_step"] == 40 and r["processes"][0]["window"]["last_step"] == 45'
json 'r["processes"][0]["records"]["in_command_buffers"] > 0 and r["processes"][0]["records"]["dropped"] == 0'
json 'r["processes"][0]["records"]["attributed_time_share"] > 0.99'
json '[(m["executions"], m["devices"]) for m in r["processes"][0]["modules"] if m["is_chosen"]] == [(120, 2)]'
nothing_private
run 0 "$bin/pgle-extract" "$logs" -o "$work/profile.pb"
says '^wrote .*profile.pb: [1-9][0-9]* costs'

# Without command buffers the same ops.
train --steps 600 --step-ms 4
on_time 0 "$capture" -o "$logs" --module jit_train_step --compress -- "${command[@]}"
run 0 "$bin/pgle-extract" "$logs" -o "$work/profile.pb"

# The HLO that XLA dumps while it runs is in the run: fingerprints come from it.
id=$(sed -nE '/hlo_module=jit_train_step,/{s/.*jit_train_step,program_id=([0-9]+).*/\1/p;q}' "$work/truth")
python3 - "$id" >"$work/module" <<'END'
import sys
def varint(n):
  return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
name = b'jit_train_step'
module = b'\x0a' + varint(len(name)) + name + b'\x28' + varint(int(sys.argv[1]))
sys.stdout.buffer.write(b'\x0a' + varint(len(module)) + module)
END
run 0 "$capture" -o "$logs" --run hlo --steps 40:300 --json "$work/report.json" -- bash -c \
  'dump=${XLA_FLAGS#*xla_dump_to=\"}; dump=${dump%%\"*}; mkdir "$dump"
   cp "$0" "$dump/module_$1.jit_train_step.gpu_after_optimizations.hlo.pb"; shift; exec "$@"' \
  "$work/module" "$id" "${command[@]}"
json '[m["has_hlo"] for m in r["processes"][0]["modules"] if m["is_chosen"]] == [True]'
! grep -q 'no HLO of jit_train_step' "$work/stderr" || fail "the dump is not found"
nothing_private

# Step times alone need no CUPTI.
rm "$work/truth"
train --steps 50 --step-ms 4
run 0 "$capture" --times --json "$work/report.json" -- "${command[@]}"
json '[len(m["starts_ns"]) for m in r["processes"][0]["modules"] if m["module"] == "jit_train_step"] == [50]'
python3 - "$work/report.json" "$work/truth" <<'END' || fail "step times differ from the program's"
import json, statistics, sys
modules = json.load(open(sys.argv[1]))["processes"][0]["modules"]
step = next(module for module in modules if module["module"] == "jit_train_step")
starts = {}
for line in open(sys.argv[2]):
  entry = json.loads(line)
  if entry["module"] == "jit_train_step" and entry["device"] == 0:
    key = entry["execution"]
    starts[key] = min(starts.get(key, entry["called"]), entry["called"])
starts = [starts[key] for key in sorted(starts)]
truth = statistics.median(b - a for a, b in zip(starts, starts[1:])) / 1e3
seen = step["step_time_outside"]["median_us"]
assert truth > 3900 and 0.75 * truth < seen < 1.25 * truth, (seen, truth)
END

# SIGTERM inside the window: it is closed and written, and nothing is missing.
train --steps 100000 --step-ms 4
"$capture" -o "$logs" --run term --steps 20:90000 --json "$work/report.json" -- "${command[@]}" 2>"$work/stderr" &
launcher=$!
has_recorded() { PGLE_CAPTURE_CONTROL=$(echo "$logs"/.pgle-capture/term/*/control) timeout 5 "$client" records 1000; }
wait_for 60 has_recorded || fail "nothing is recorded"
kill -TERM $launcher
status=0
wait $launcher || status=$?
[ "$status" -eq 143 ] || fail "status $status after SIGTERM"
json 'r["is_whole"] and r["processes"][0]["window"]["is_complete"] and r["processes"][0]["records"]["kernels"] > 100'
# SIGKILL: what was recorded until then.
run 137 "$capture" -o "$logs" --run kill --steps 20:90000 --json "$work/report.json" -- \
  bash -c '"$@" & timeout 60 "$0" records 1000; kill -9 $!; wait; kill -9 $$' "$client" "${command[@]}"
json 'r["is_whole"] and not r["processes"][0]["window"]["is_complete"] and r["processes"][0]["records"]["kernels"] > 100'
[ "$(traces | grep -cE '^./(term|kill)/')" -eq 2 ] || fail "traces: $(traces)"

# Faults of CUPTI reach the user's eyes, and not the program.
train --steps 20
run 125 env FAKE_CUPTI_SUBSCRIBE=39 "$capture" -o "$logs" -- "${command[@]}"
says 'error: process [0-9]+: CUPTI is held by another tool \(error 39\)'
run 125 "$capture" -o "$logs" --steps 500:505 -- "${command[@]}"
says 'the window never opened; modules that ran: .*jit_train_step 20 times'
finish
