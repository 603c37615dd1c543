#!/usr/bin/env bash
# pgle-inspect coverage: output, gates, bad input. $1: folder of the binaries, $2: testdata.
set -eu
bin=$1 runs=$2/runs
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
inspect() { "$bin/pgle-inspect" "$@"; }

fail() {
  echo "FAILED: $1" >&2
  cat "$tmp/out" "$tmp/err" >&2
  exit 1
}
# expect STATUS ARGUMENTS...
expect() {
  local want=$1 got=0
  shift
  inspect "$@" >"$tmp/out" 2>"$tmp/err" || got=$?
  [ "$got" = "$want" ] || fail "pgle-inspect $*: exit status $got, not $want"
}
prints() { grep -qF -- "$1" "$tmp/out" || fail "standard output lacks: $1"; }
complains() { grep -qF -- "$1" "$tmp/err" || fail "standard error lacks: $1"; }
one_line() { [ "$(wc -l <"$tmp/err")" = 1 ] || fail "more than one line on standard error"; }

optimized=jit_train_step.sm_9.0a_gpu_after_optimizations
hlo=$runs/fsdp_unrolled/hlo/profiled/module_2667.$optimized.hlo.pb.zst
profile=$runs/fsdp_unrolled/jaxlib_profile.pb

expect 0 coverage --hlo "$hlo" "$profile"
prints '92.1 % by count'
prints '455 instructions'
prints '456 look-ups as XLA counts them'
prints 'missing    41'
prints '39 renamed after scheduling, 2 asynchronous pair left to XLA'
prints 'all-to-all-start.1 (renamed after scheduling: the profile has all-to-all.1.2)'
prints 'and 31 more; -v lists all, --json too'
[ ! -s "$tmp/err" ] || fail 'something on standard error'
expect 0 -v coverage --hlo "$hlo" "$profile"
prints 'all-to-all-start.9 (renamed'

# Text and proto answer alike, byte for byte but for the file's name.
inspect coverage --json --hlo "$hlo" "$profile" | grep -v '"file"\|"hlo"' >"$tmp/proto"
inspect coverage --json --hlo "${hlo%.hlo.pb.zst}.txt.zst" "$profile" |
  grep -v '"file"\|"hlo"' >"$tmp/text"
cmp "$tmp/proto" "$tmp/text" || fail 'HLO text and proto give different answers'

# A folder, the gate, and what it counts.
expect 0 coverage --hlo "${hlo%/*}" "$profile" --min 92%
expect 3 coverage --hlo "${hlo%/*}" "$profile" --min 93%
complains 'covers less than the 93.0 % asked for (jit_train_step: 455 found, 92.1 %)'
expect 3 coverage --hlo "$hlo" "$profile" --min 0.92 --strict
expect 3 coverage --hlo "$runs/logs/hlo" "$runs/logs/foreign_profile.pb" --min 1%
prints 'foreign fingerprint'
expect 0 coverage --hlo "$hlo" "$profile" --trace "$runs/fsdp_unrolled/trace/vm.xplane.pb.zst"
prints 'by device time'
expect 0 coverage --hlo "$runs/autotune_drift/hlo/recompiled" "$runs/autotune_drift/jaxlib_profile.pb"
prints '12 autotuner chose another kernel'

# AutoPGLE's own profile with the HLO of the first compile and of the second.
fdo=$runs/auto_pgle/dump/module_443231.$optimized.fdo_profile
expect 0 coverage --hlo "$runs/auto_pgle/dump/module_2667.$optimized.hlo.pb.zst" "$fdo"
prints '243 look-ups'
prints 'missing    23'
expect 0 coverage --hlo "$runs/auto_pgle/dump" "$fdo"
prints '1 module not judged'
expect 0 coverage --hlo "$runs/fsdp_unrolled/hlo/recompiled" "$profile"
prints 'undecided  4 collectives'

# Bad input: one line, status 1.
zstd -dcq "$hlo" >"$tmp/module.hlo.pb"
head -c 20000 "$tmp/module.hlo.pb" >"$tmp/cut.hlo.pb"
expect 1 coverage --hlo "$tmp/cut.hlo.pb" "$profile"
complains "$tmp/cut.hlo.pb: not an HLO module, or cut short"
one_line
expect 1 coverage --hlo "$runs/aggregate" "$profile"
complains 'holds no optimized HLO module'
one_line
expect 1 coverage --hlo "$profile" "$profile"
one_line
expect 1 coverage --hlo "$tmp/none" "$profile"
complains 'does not exist'
cp "$tmp/module.hlo.pb" "$tmp/module.pb"
expect 1 coverage --hlo "$hlo" "$tmp/module.pb"
complains 'not a profile'
one_line
expect 1 coverage --hlo "$hlo" "$tmp/module.hlo.txt"
one_line
: >"$tmp/empty.pb"
expect 1 coverage --hlo "$hlo" "$tmp/empty.pb"
complains 'holds no cost'
head -c 3000 "$profile" >"$tmp/cut.pb"
expect 1 coverage --hlo "$hlo" "$tmp/cut.pb"
complains 'cut short'
expect 1 coverage --hlo "$hlo" "$profile" --module no_such_module
expect 2 coverage --hlo "$hlo" "$profile" --min lots
expect 2 coverage --hlo "$hlo" "$profile" --min nan
expect 2 coverage "$profile"
