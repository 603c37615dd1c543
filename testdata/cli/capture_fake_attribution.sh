#!/usr/bin/env bash
# Every kernel, copy and memset of a window is attributed as the program's own stack says: plain
# launches, loops, command buffers with clones and child graphs, two devices, many threads.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"

# Without command buffers.
record 0 --steps 50:60 -- --steps 90 --step-ms 4
slot state 6
slot fault 0
slot has_ended 1
slot nvtx_clients 2
check --window 50:60
summarises wanted 360
summarises devices 2

# With them. Their nodes were made long before the window, and are made again now and then.
record 0 --steps 50:60 -- --steps 90 --step-ms 4 --graphs
slot state 6
check --window 50:60
summarises in_graphs 180

# CUPTI 12, and the records of later releases, which have grown at their ends.
cupti=$cupti12 record 0 --steps 50:60 -- --steps 90 --step-ms 4 --graphs
slot cupti_version 28
slot state 6
check --window 50:60
summarises in_graphs 180
for version in 19 130200 130300 130500; do
  FAKE_CUPTI_VERSION=$version record 0 --steps 50:55 -- --steps 80 --step-ms 4 --graphs
  slot cupti_version "$version"
  slot state 6
  check --window 50:55
done

# Records that come in no order, and ids of launches that wrap around.
FAKE_CUPTI_SHUFFLE=1 FAKE_CUDA_FIRST_CORRELATION=4294966000 \
  record 0 --steps 50:60 -- --steps 90 --step-ms 4 --graphs
slot state 6
check --window 50:60

# Buffers that hold few records.
record 0 --buffer-bytes 8192 --steps 50:60 -- --steps 90 --step-ms 4 --graphs
slot state 6
check --window 50:60

# 64 threads, each with a module of its own, on two devices.
record 0 --buffer-bytes 65536 --steps 50:60 --module jit_train_step_63 -- \
  --steps 90 --step-ms 4 --threads 64
slot state 6
check --window 50:60 --module jit_train_step_63
summarises wanted 180
summarises records 10000

# Eight devices.
record 0 --steps 50:55 -- --steps 80 --step-ms 8 --devices 8 --graphs
slot state 6
check --window 50:55
summarises devices 8

finish
