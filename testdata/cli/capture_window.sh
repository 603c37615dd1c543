#!/usr/bin/env bash
# From the control page to the run: what processes record is converted, summed up and judged.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/capture_lib.sh"
host=$(uname -n)
json() { # json EXPRESSION: of the report, as `r`
  python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert eval(sys.argv[2]), r' \
    "$work/report.json" "$1" 2>"$work/assertion" || { fail "not in the report: $1"; tail -1 "$work/assertion" >&2; }
}

# A whole recording. The run is there while the command runs on.
run 0 "$capture" -o "$logs" --run whole --json "$work/report.json" -- \
  bash -c '"$@" & for i in {1..100}; do ls "$0"/*.xplane.pb >/dev/null 2>&1 && break; sleep 0.05; done
           ls "$0"; wait' "$logs/plugins/profile/whole" "$client" $steps sleep 1 end
prints "${host}_p"
traces | grep -qE "^./whole/${host}_p[0-9]+\.xplane\.pb\$" || fail "traces: $(traces)"
nothing_private
says "^pgle-capture: note: $logs/plugins/profile/whole/.*\.xplane\.pb: wrote 5 kernels of process [0-9]+; the command runs on"
says '^process [0-9]+: python train.py$'
says '^  window      steps \[10, 15\) of jit_step, .* s: as told$'
says '^  recorded    5 kernels, 0 copies, 0 memsets on 1 device'
says '^  attributed  100\.0 % of them to an HLO op, 100\.0 % of the modules'
says '^  dropped     nothing$'
says '^  module jit_step: ran 25 times on 1 device, 100\.0 % of the device time in the window$'
says '^    step time 2\.000 ms .* outside, 2\.[0-9]{3} ms inside the window \([+-][0-9.]+ %\)$'
says "^  wrote       $logs/plugins/profile/whole/"
[ "$(tail -1 "$work/stderr")" = "next: pgle-extract '$logs' -o profile.pb" ] || fail "the last line: $(tail -1 "$work/stderr")"
json 'r["schema"] == "pgle.capture.report/1" and r["is_whole"] and r["status"] == 0 and not r["failures"]'
json 'r["run"] == "whole" and r["window_mode"] == "auto" and r["command"]["status"] == 0'
json 'r["processes"][0]["window"]["first_step"] == 10 and r["processes"][0]["window"]["is_complete"]'
json 'r["processes"][0]["records"]["kernels"] == 5 and r["processes"][0]["state"] == "closed"'
json '[(m["module"], m["executions"], m["is_chosen"]) for m in r["processes"][0]["modules"]] == [("jit_step", 25, True)]'
json '"starts_ns" not in r["processes"][0]["modules"][0]'
run 0 "$capture" -o "$logs" --run packed -q --compress -- "$client" $steps end
traces | grep -q '^./packed/.*\.xplane\.pb\.zst$' || fail "--compress"
! grep -v warning: "$work/stderr" || fail "--quiet talks"

# Names of modules are answered.
run 0 "$capture" -o "$logs" --module 'jit_tr.*step$' -- "$client" slot loaded ready module jit_train_step \
  module jit_train_steps module init verdict jit_train_step verdict jit_train_steps verdict init \
  spill run jit_train_step 3 armed open run jit_train_step 3 closing closed end
[ "$(tr '\n' ' ' <"$work/stdout")" = 'jit_train_step yes jit_train_steps no init no ' ] ||
  fail "verdicts: $(cat "$work/stdout")"

# Killed inside the window: what was recorded until then.
run 137 "$capture" -o "$logs" --run killed --json "$work/report.json" -- bash -c '"$@"; kill -9 $$' bash \
  "$client" slot loaded spill ready module jit_step run jit_step 10 armed open run jit_step 5
says 'warning: .*\.xplane\.pb: the recording was cut: the process was killed'
json 'r["is_whole"] and not r["processes"][0]["window"]["is_complete"]'
traces | grep -q '^./killed/' || fail "no trace of a killed process"

# A helper that uses the GPU for a moment leaves nothing, and is no failure.
run 0 "$capture" -o "$logs" --run helper -- bash -c '"$0" slot loaded fail 1 0 ""; "$0" slot loaded ready end
  "$@"' "$client" "$client" $steps end
[ "$(traces | grep -c '^./helper/')" -eq 1 ] || fail "traces of a helper"
says '^2 processes that used CUDA ran no module of XLA$'
nothing_private
# One that runs other modules is no failure either; one that runs the same is.
run 0 "$capture" -o "$logs" -- bash -c '"$0" slot loaded spill ready module jit_eval run jit_eval 2 end; "$@"' \
  "$client" "$client" $steps end
says 'warning: process [0-9]+: the window never opened; modules that ran: jit_eval 2 times'
run 125 "$capture" -o "$logs" -- bash -c '"$0" slot loaded spill ready module jit_step run jit_step 2 end; "$@"' \
  "$client" "$client" $steps end
says 'error: process [0-9]+: the window never opened; modules that ran: jit_step 2 times'

# What was not recorded, and what to do.
failed() { # failed PATTERN OPTIONS... -- STEPS...
  local pattern=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  rm -rf "$logs"
  run 125 "$capture" -o "$logs" --json "$work/report.json" "${options[@]}" -- "$client" "$@"
  tail -1 "$work/stderr" | grep -qE -- "error: .*$pattern" || {
    fail "the last line is no error like: $pattern"
    sed 's/^/    /' "$work/stderr" >&2
  }
  json 'not r["is_whole"] and r["status"] == 125 and r["command"]["status"] == 0 and r["failures"]'
  nothing_private
  [ -z "$(ls "$logs/plugins/profile/"* 2>/dev/null)" ] || fail "a trace was written"
  run 0 "$capture" -o "$logs" --best-effort "${options[@]}" -- "$client" "$@"
}
ran="slot loaded spill ready module jit_step run jit_step 30"
failed 'process [0-9]+: the window never opened; modules that ran: jit_step 30 times; run more steps, or give --steps 15:30' \
  --steps 100:105 -- $ran end
failed "jit_step 30 times; --module 'train' matches none of them" --module train -- $ran end
failed 'jit_step 30 times; run more steps' --module 'step$' -- $ran end
failed 'the command ran for [0-9.]+ s: give a smaller --delay' --delay 100 --duration 5 -- $ran end
failed 'the program did not call cudaProfilerStart; ' --profiler-api -- $ran end
failed 'the signal did not come, ' --on-signal USR1 -- $ran end
failed 'the window never opened \(too late\); modules that ran: jit_step 30 times' -- $ran fail 10 0 'too late' end
failed 'no module of XLA ran in a process that uses CUDA; ' -- slot loaded ready end
failed 'process [0-9]+: libcupti cannot be loaded: looked in /x; .*PGLE_CUPTI_PATH' -- slot loaded fail 1 0 'looked in /x'
failed "CUPTI 14.0 is not known; " -- slot loaded fail 2 140000 ''
failed 'CUPTI is held by another tool \(error 39\): cuptiSubscribe; end it first: nsys, ncu, DCGM' -- \
  slot loaded fail 3 39 cuptiSubscribe
failed 'the driver refuses this user .*NVreg_RestrictProfilingToAdminUsers=0' -- slot loaded fail 4 35 ''
failed 'a call of CUPTI failed \(error 999\): cuptiSubscribe: UNKNOWN' -- slot loaded fail 5 999 'cuptiSubscribe: UNKNOWN'
failed 'records cannot be written \(No space left on device\): p1.pgle; make room' -- $ran fail 6 28 p1.pgle
failed "records do not look as they should: kernel 7" -- slot loaded fail 7 0 'kernel 7'
failed 'no memory for records \(Cannot allocate memory\); .*--buffer-size' -- slot loaded fail 8 12 ''
rm -rf "$logs"
run 0 "$capture" -o "$logs" -- "$client" ${steps% closed*} fail 9 0 '3 launches' closed end
says 'warning: process [0-9]+: CUPTI did not hand out its last records in time: 3 launches'

# More processes than there are slots.
run 125 "$capture" -o "$logs" -- bash -c 'for i in {1..66}; do "$0" slot loaded ready end; done' "$client"
says 'warning: bash: 2 processes more than the 64 that can be recorded; '

# kill_recorded: the process of the last report, which outlived its command.
kill_recorded() {
  local pid
  pid=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["processes"][0]["pid"])' \
    "$work/report.json") && kill -9 "$pid" || fail "no process that outlives the command"
  wait_for 60 is_gone "$pid" || fail "process $pid does not end"
}
is_gone() { ! kill -0 "$1" || grep -q ') Z ' "/proc/$1/stat"; }

# Processes that outlive the command: an open window is closed, and they are told of.
rm -rf "$logs"
run 0 "$capture" -o "$logs" --run daemon --json "$work/report.json" -- \
  bash -c '"$@" >/dev/null 2>&1 & "$1" await open records 5' bash "$client" \
  slot loaded spill ready module jit_step run jit_step 10 armed open run jit_step 5 command close closing \
  closed sleep 60
says 'note: process [0-9]+: still runs though the command has ended'
kill_recorded
traces | grep -q '^./daemon/' || fail "no trace of a process that outlives the command"

# What cannot be converted yet is kept, and --recover makes it a run.
rm -rf "$logs"
run 125 "$capture" -o "$logs" --run kept --json "$work/report.json" -- \
  bash -c '"$@" >/dev/null 2>&1 & "$1" await open records 5' \
  bash "$client" slot loaded spill ready module jit_step run jit_step 10 armed open run jit_step 5 sleep 60
says 'error: process [0-9]+: still runs, with the window open; its records can be converted when it has ended'
kept=$(ls -d "$logs"/.pgle-capture/kept/*)
says "^next: pgle-capture --recover '$kept'\$"
json "r[\"kept_directory\"] == \"$kept\""
kill_recorded
run 0 "$capture" --recover "$kept"
says "^next: pgle-extract '$logs' -o profile.pb\$"
[ "$(traces | grep -cE "^./kept/${host}_p[0-9]+\.xplane\.pb\$")" -eq 1 ] || fail "traces: $(traces)"
nothing_private
run 125 "$capture" --recover "$kept"
says 'does not exist'

# A launcher that is killed leaves the same behind; while it runs, it is left alone.
"$capture" -q -o "$logs" --run dead -- "$client" $steps end sleep 60 2>/dev/null &
launcher=$!
is_written() { ls "$logs"/plugins/profile/dead/*.xplane.pb; }
wait_for 60 is_written || fail "no run while the command runs"
kept=$(ls -d "$logs"/.pgle-capture/dead/*)
run 125 "$capture" --recover "$kept"
says "error: $kept: process $launcher still captures there; "
kill -9 $launcher
{ wait $launcher; } 2>/dev/null || true
run 0 "$capture" --recover "$kept" --run again --compress --json "$work/report.json"
traces | grep -qE "^./again/${host}_p[0-9]+\.xplane\.pb\.zst\$" || fail "traces: $(traces)"
json 'r["is_whole"] and r["command"] is None and r["processes"][0]["records"]["kernels"] == 5'
kill_recorded

# A spill file that somebody took elsewhere.
run 0 "$capture" -o "$logs" --run spill -- bash -c '"$@"; cp "$0"/*/p*.pgle "$0/../.."' "$logs/.pgle-capture/spill" \
  "$client" $steps end
run 125 "$capture" --recover "$logs"/p*.pgle
says 'does not lie where pgle-capture records'
run 0 "$capture" --recover "$logs"/p*.pgle -o "$work/else" --run saved
ls "$work"/else/plugins/profile/saved/"${host}"_p*.xplane.pb >/dev/null || fail "--recover FILE"
ls "$logs"/p*.pgle >/dev/null || fail "--recover removed a file of the user"

# --times: no window, no run, all starts.
run 0 "$capture" --times --json "$work/report.json" -- "$client" slot ready spill module jit_step run jit_step 30 \
  run jit_eval 2 end
json 'r["window_mode"] == "none" and r["run"] is None and r["processes"][0]["trace"] is None'
json '{m["module"]: len(m["starts_ns"]) for m in r["processes"][0]["modules"]} == {"jit_step": 30, "jit_eval": 2}'
json '[m["step_time_outside"]["median_us"] for m in r["processes"][0]["modules"] if m["module"] == "jit_step"] == [2000]'
says '^  module jit_step: ran 30 times on 1 device$'
! grep -q '^next:' "$work/stderr" || fail "--times has a next step"
run 0 "$capture" --times --module eval --json "$work/report.json" -- "$client" slot ready spill run jit_step 30 \
  run jit_eval 2 end
json '[m["module"] for m in r["processes"][0]["modules"]] == ["jit_eval"]'
run 125 "$capture" --times -- "$client" slot ready end
says 'no module of XLA ran'
run 125 "$capture" --times -- true
says 'no process loaded the recorder'
finish
