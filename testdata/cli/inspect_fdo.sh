#!/usr/bin/env bash
# pgle-inspect fdo. $1: folder of the binaries, $2: testdata.
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

dump=$runs/auto_pgle/dump
filled=module_443231.jit_train_step.before_optimizations.fdo_profile
expect 0 fdo "$dump"
prints 'module jit_train_step: 2 compiles'
prints '2667: empty, equal at 4 dump points'
prints '443231: 264 costs, 8126 bytes'
prints 'filled since the compile before'
expect 0 fdo "$dump" --profile "$dump/$filled"
prints "against $dump/$filled: equal"
expect 0 fdo "$dump" --profile "$runs/aggregate/in0.pb"
prints '259 costs differ'
expect 0 fdo "$dump" --json
prints '"schema": "pgle.inspect.fdo/1"'

# Only the first compile: why it is empty.
mkdir "$tmp/dump"
cp "$dump"/module_2667.*.fdo_profile "$tmp/dump"
expect 0 fdo "$tmp/dump"
prints 'A profile given by --xla_gpu_pgle_profile_file_or_directory_path never appears here'

expect 1 fdo "$runs/aggregate"
complains 'holds no .fdo_profile file'
expect 1 fdo "$tmp/none"
complains 'does not exist'
head -c 5000 "$dump/$filled" >"$tmp/dump/$filled"
expect 1 fdo "$tmp/dump"
complains "$tmp/dump/$filled: not a profile, or cut short"
expect 2 fdo
