#!/usr/bin/env bash
# pgle-inspect hosts. PGLE_PUBLIC_DATA: other people's published dumps, where at hand.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
runs=$data/runs

run 0 "$inspect" hosts "$runs/two_process/hlo/host0" "$runs/two_process/hlo/host1"
prints '2 ranks: 1 of 1 compiled module alike on all'
run 0 "$inspect" hosts "$runs/two_process/hlo"
drift=$runs/autotune_drift/hlo
run 3 "$inspect" hosts "$drift/profiled" "$drift/recompiled"
prints 'custom-call.24: selected_algorithm 0 -> 3'
prints 'another order of collectives'
complains 'did not compile the same modules'
run 3 "$inspect" hosts "$drift/profiled" "$drift/recompiled" --json
prints '"schema": "pgle.inspect.hosts/1"'
prints '"differ": true'

run 1 "$inspect" hosts "$drift/profiled" "$runs/aggregate"
complains "$runs/aggregate: holds no optimized HLO module"
run 1 "$inspect" hosts "$drift/profiled" "$drift/recompiled" --module no_such_module
run 2 "$inspect" hosts "$drift/profiled"
run 2 "$inspect" hosts

if [ -n "${PGLE_PUBLIC_DATA:-}" ]; then
  run 3 "$inspect" hosts "$PGLE_PUBLIC_DATA"/pax_fsdp4_proc{0,3}.hlo.pb.zst
  prints '12 instructions differ'
  prints 'block_m 128 -> 256, num_stages 4 -> 3, num_warps 4 -> 8'
  prints 'collectives in the same order'
fi
finish
