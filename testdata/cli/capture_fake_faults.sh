#!/usr/bin/env bash
# What may go wrong with CUPTI: the recorder says which it was, and the program runs to its end.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"

# fault NUMBER CODE: of the recording of a whole program.
fault() {
  slot state 7
  slot fault "$1"
  slot code "$2"
  slot text '[^"]+'
  program_is_whole 700
}
short=(--steps 5:10 -- --steps 20 --step-ms 4)

# Another subscriber; privileges; something else.
FAKE_CUPTI_SUBSCRIBE=39 record 0 "${short[@]}"
fault 3 39
no_spill
FAKE_CUPTI_SUBSCRIBE=35 record 0 "${short[@]}"
fault 4 35
no_spill
FAKE_CUPTI_SUBSCRIBE=999 record 0 "${short[@]}"
fault 5 999
slot text 'cuptiSubscribe: CUPTI_ERROR_UNKNOWN'
FAKE_CUPTI_ENABLE=35 record 0 --steps 20:30 -- --steps 60 --step-ms 4
fault 4 35

# Releases that are too old or not known yet.
FAKE_CUPTI_VERSION=18 record 0 "${short[@]}"
fault 2 18
FAKE_CUPTI_VERSION=140000 record 0 "${short[@]}"
fault 2 140000
no_spill

# No CUPTI.
PGLE_CUPTI_PATH=/nonexistent/libcupti.so record 0 "${short[@]}"
slot state 7
slot fault 1
slot text '[^"]*nonexistent[^"]*'
program_is_whole 700

# Not mapped yet, but beside the program's libraries.
run=$(mktemp -d "$work/run.XXXX")
"$fake/run_recorded" --recorder "$recorder" --directory "$run" --steps 50:55 -- \
  "$fake/fake_xla" --steps 80 --step-ms 4 --truth "$run/truth" >"$run/slots"
slot state 6
check --window 50:55

# Records that are laid out otherwise.
FAKE_CUPTI_LAYOUT=shifted record 0 --steps 30:40 -- --steps 80 --step-ms 4
slot state 7
slot fault 7
slot text '[^"]+'
program_is_whole 2800

# CUPTI drops records, gives no times.
FAKE_CUPTI_DROP=100 record 0 --steps 30:40 -- --steps 80 --step-ms 4
slot state 6
check --window 30:40 --dropped 100
FAKE_CUPTI_ZERO_TIMES=10 record 0 --steps 30:40 -- --steps 80 --step-ms 4
slot state 6
check --window 30:40 --untimed-every 10

# More than the memory that the recorder may take, while CUPTI hands nothing out: what is lost is
# counted, the rest is right.
export FAKE_CUPTI_SLOW_FLUSH_MS=700
record 0 --buffer-bytes 65536 --memory-bytes 131072 --steps 30:1000 -- \
  --steps 200 --step-ms 15 --layers 60 --devices 4
check --dropped-any
cupti=$cupti12 FAKE_CUPTI_VERSION=26 \
  record 0 --buffer-bytes 65536 --memory-bytes 131072 --steps 30:1000 -- \
  --steps 200 --step-ms 15 --layers 60 --devices 4
check --dropped-any
unset FAKE_CUPTI_SLOW_FLUSH_MS

# Records that come late, flushes that are slow.
FAKE_CUPTI_LATE_MS=600 record 0 --steps 30:40 -- --steps 300 --step-ms 4
slot state 6
check --window 30:40
FAKE_CUPTI_SLOW_FLUSH_MS=300 record 0 --steps 30:40 -- --steps 500 --step-ms 4
slot state 6
check --window 30:40

# Before 13.0 update 1 cuptiActivityDisable may never return: it must not be called.
cupti=$cupti12 FAKE_CUPTI_DISABLE_HANGS=1 record 0 --steps 30:40 -- --steps 200 --step-ms 4
slot state 6
check --window 30:40

finish
