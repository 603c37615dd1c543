#!/usr/bin/env bash
# How processes end and begin: fork, spawn, _exit, signals. What was recorded stays, and a forked
# child writes nothing.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"

slots() { [ "$(wc -l <"$run/slots")" -eq "$1" ] || fail "$(wc -l <"$run/slots") slots, not $1"; }
spills() { [ "$(ls "$run"/*.pgle | wc -l)" -eq "$1" ] || fail "$(ls "$run"/*.pgle) are not $1"; }

# A forked child, before, inside and behind the window.
for step in 5 55 85; do
  record 0 --steps 50:60 -- --steps 100 --step-ms 4 --graphs --fork-at "$step"
  slots 1
  spills 1
  slot state 6
  slot has_ended 1
  check --window 50:60
done

# A child that is a program of its own has a spill file of its own.
record 0 --steps 50:60 -- --steps 90 --step-ms 4 --spawn 1
slots 2
spills 2
slot state 6 1
slot state 6 2
for spill in "$run"/*.pgle; do
  PYTHONDONTWRITEBYTECODE=1 python3 "$data/fake_gpu/check_capture.py" "$spill" "$run/truth" \
    --window 50:60 >/dev/null 2>"$run/check" || fail "$(cat "$run/check")"
done

# _exit behind the window: the recording is whole, only the end mark lacks.
record 0 --steps 30:40 -- --steps 1000 --step-ms 4 --hard-exit
slot state 6
slot has_ended 0
check --window 30:40 --truncated

# Killed behind the window, and terminated.
record 137 --signal 9 --signal-when-closed --steps 30:40 -- --steps 100000 --step-ms 4
slot state 6
check --window 30:40 --truncated --no-truth-yet
record 143 --signal 15 --signal-when-closed --steps 30:40 -- --steps 100000 --step-ms 4
slot state 6
check --window 30:40 --truncated --no-truth-yet

# Killed two seconds and more after the window opened: at most the last second is lost.
is_there_but_for_a_second() {
  record 137 --signal 9 --signal-when-open --signal-after 2500 --steps 30:100000 -- \
    --steps 100000 --step-ms 4
  check --truncated --no-truth-yet --lost-at-most 1000
}
tries is_there_but_for_a_second

# More processes than there are slots: all of them run, and 64 are followed.
program_prefix=(bash -c 'for i in {1..66}; do "$@" || exit; done' bash)
record 0 --steps 2:4 -- --steps 6
slots 64
[ "$(grep -c '"has_ended":1' "$run/slots")" -eq 64 ] || fail "processes did not come to their ends"
[ "$(grep -o '^{"pid":[0-9]*' "$run/truth" | sort -u | wc -l)" -eq 66 ] || fail "66 processes did not run"

finish
