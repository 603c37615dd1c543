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
record 0 --steps 30:40 -- --steps 200 --step-ms 4 --hard-exit
slot state 6
slot has_ended 0
check --window 30:40 --truncated

# Killed behind the window, and terminated.
record 137 --signal 9 --signal-after 1200 --steps 30:40 -- --steps 100000 --step-ms 4
slot state 6
check --window 30:40 --truncated --no-truth-yet
record 143 --signal 15 --signal-after 1200 --steps 30:40 -- --steps 100000 --step-ms 4
slot state 6
check --window 30:40 --truncated --no-truth-yet

# Killed inside the window: at most the last second is lost. The window opened some 400 ms after the
# start, so that two seconds and more of it were there.
record 137 --signal 9 --signal-after 3000 --steps 30:100000 -- --steps 100000 --step-ms 4
check --truncated --no-truth-yet --lost-at-most 1000

finish
