#!/usr/bin/env bash
# When the recorder records: steps, the first steps, steady steps, times, cudaProfilerStart, the
# launcher's command, and no window at all.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"

windows() { grep -oE "\"$1\": [0-9]+" <<<"$summary" | grep -oE '[0-9]+$' | tail -1; }

# From the first step on: compilation stays out of the modules that are recorded.
record 0 --steps 0:5 --module jit_train_step -- \
  --steps 60 --step-ms 4 --graphs --compile-ms 300
slot state 6
check --window 0:5

# Of a module that is not the one with most to do.
record 0 --steps 4:8 --module jit_eval -- --steps 120 --step-ms 4
slot state 6
check --window 4:8 --module jit_eval
summarises wanted 8

# A module that never runs: nothing is recorded, the program is whole.
record 0 --steps 4:8 --module jit_other -- --steps 40 --step-ms 4
slot has_ended 1
slot records 0
program_is_whole 1400

# Steps that the program does not reach: what there is of them is kept.
record 0 --steps 50:1000 -- --steps 90 --step-ms 4
slot state 6
check --window 50:90
grep -q 'ended inside the window' <<<"$summary" || fail "no word on the early end"

# Steady steps: not before the program has compiled for the last time. Where the machine is too busy
# for steady ones, recording starts anyway.
record 0 --auto --count 5 --give-up 300 -- --steps 900 --step-ms 4 --graphs --recompile-at 8 --compile-ms 100
slot state 6
check
summarises records 100
first=$(windows first) last=$(windows last)
[ "$first" -gt 8 ] && [ "$last" -eq $((first + 5)) ] || fail "the window is $first:$last"
check --window "$first:$last"

# The same steps on all ranks: counts decide.
record 0 --auto --by-count --count 5 -- --steps 250 --step-ms 4
slot state 6
check
first=$(windows first)
[ $((first & (first - 1))) -eq 0 ] || fail "counts decided for $first"
check --window "$first:$((first + 5))"

# By time.
record 0 --time 150:800 -- --steps 500 --step-ms 4
slot state 6
check --all --margin 200
summarises wanted 100

# cudaProfilerStart and cudaProfilerStop: the whole of it, but for the time that arming takes.
record 0 --profiler -- --steps 400 --step-ms 4 --profile 40:290
slot state 6
check --all --margin 200
check --window 165:285

# The launcher's word.
record 0 --command 150:800 -- --steps 1000 --step-ms 4
slot state 6
check --all --margin 200

# No window: no record, but the times of all executions. And no waiting at the end.
record 0 --none -- --steps 50 --step-ms 2
slot fault 0
slot has_ended 1
check --at-least 0 --all-executions
summarises module_runs 100
! grep -q '"records": [1-9]' <<<"$summary" || fail "there are records without a window"

# Many modules, counted or recorded, cost no time: 90 of them in 30 threads.
many=(--steps 40 --threads 30)
spent() { # spent COMMAND...: milliseconds
  local begin=${EPOCHREALTIME/./}
  "$@"
  echo $(((${EPOCHREALTIME/./} - begin) / 1000))
}
is_as_fast() {
  local bare times automatic
  bare=$(spent "$fake/fake_xla" --cupti "$cupti" --truth "$work/bare" "${many[@]}")
  times=$(spent record_once 0 --none -- "${many[@]}")
  automatic=$(spent record_once 0 --auto -- "${many[@]}")
  # A wait for each module would be 15 s; a sanitizer and a busy machine slow down all three.
  local most=$((3 * bare + 3000))
  [ "$times" -lt "$most" ] && [ "$automatic" -lt "$most" ] ||
    fail "30 modules: $bare ms, $times ms with --none, $automatic ms with --auto"
}
tries is_as_fast
record 0 --none -- "${many[@]}"
check --at-least 0 --all-executions

finish
