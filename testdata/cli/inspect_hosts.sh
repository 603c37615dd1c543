#!/usr/bin/env bash
# pgle-inspect hosts. $1: folder of the binaries, $2: testdata. PGLE_PUBLIC_DATA: other people's
# published dumps, where at hand.
set -eu
bin=$1 runs=$2/runs
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail() {
  echo "FAILED: $1" >&2
  cat "$tmp/out" "$tmp/err" >&2
  exit 1
}
expect() {
  local want=$1 got=0
  shift
  "$bin/pgle-inspect" "$@" >"$tmp/out" 2>"$tmp/err" || got=$?
  [ "$got" = "$want" ] || fail "pgle-inspect $*: exit status $got, not $want"
}
prints() { grep -qF -- "$1" "$tmp/out" || fail "standard output lacks: $1"; }
complains() { grep -qF -- "$1" "$tmp/err" || fail "standard error lacks: $1"; }

expect 0 hosts "$runs/two_process/hlo/host0" "$runs/two_process/hlo/host1"
prints '2 ranks: 1 of 1 compiled module alike on all'
expect 0 hosts "$runs/two_process/hlo"
drift=$runs/autotune_drift/hlo
expect 3 hosts "$drift/profiled" "$drift/recompiled"
prints 'custom-call.24: selected_algorithm 0 -> 3'
prints 'another order of collectives'
complains 'did not compile the same modules'
expect 3 hosts "$drift/profiled" "$drift/recompiled" --json
prints '"schema": "pgle.inspect.hosts/1"'
prints '"differ": true'

expect 1 hosts "$drift/profiled" "$runs/aggregate"
complains "$runs/aggregate: holds no optimized HLO module"
expect 1 hosts "$drift/profiled" "$drift/recompiled" --module no_such_module
expect 2 hosts "$drift/profiled"
expect 2 hosts

if [ -n "${PGLE_PUBLIC_DATA:-}" ]; then
  expect 3 hosts "$PGLE_PUBLIC_DATA"/pax_fsdp4_proc{0,3}.hlo.pb.zst
  prints '12 instructions differ'
  prints 'block_m 128 -> 256, num_stages 4 -> 3, num_warps 4 -> 8'
  prints 'collectives in the same order'
fi
