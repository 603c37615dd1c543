#!/usr/bin/env bash
# Random programs of pushes, pops, launches and graphs on four threads: every record is attributed,
# and to what a plain stack says. The number of a program that fails reproduces it.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"

for number in ${PGLE_RANDOM_PROGRAMS:-1 2 3 4 5 6 7 8}; do
  # Nodes of child graphs are named in one way and in the other.
  child_nodes=$([ $((number % 4)) -lt 2 ] && echo numbered || echo own)
  FAKE_CUPTI_SHUFFLE=$((number % 2)) FAKE_CUDA_CHILD_NODES=$child_nodes \
    record 0 --time 0:60000 -- --random "$number" --operations 6000 --devices 4
  slot state 6
  check --all
  summarises wanted 2000
  summarises in_graphs 500
  summarises module_runs 50
  [ "$failures" -eq 0 ] || fail "in the random program $number"
done

finish
