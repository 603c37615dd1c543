#!/usr/bin/env bash
# pgle-inspect show. $1: folder of the binaries, $2: testdata.
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

expect 0 show "$runs/fsdp_unrolled/jaxlib_profile.pb" --top 3
prints '495 entries, 495 instructions'
prints 'all-gather'
prints 'gemm'
prints 'and 492 more; -v lists all, --json too'
expect 0 show "$runs/fsdp_unrolled/qualified_profile.pb"
prints 'for fingerprint 605d21f72f8fa854186da0f7bc4522b2'
expect 0 show "$runs/fsdp_unrolled/jaxlib_profile.pb" --json
prints '"schema": "pgle.inspect.show/1"'

cat >"$tmp/odd.pbtxt" <<'P'
costs { name: "dot.1" cost_us: 3 }
costs { name: "dot.1" cost_us: 4 }
costs { name: "f::copy.remat2" cost_us: 1 }
costs { name: "f::a::b" cost_us: 9 }
P
expect 0 show "$tmp/odd.pbtxt"
prints '1 name more than once, the last entry wins: dot.1'
prints "1 entry that XLA drops, '::' in the instruction's name: f::a::b"
prints 'names with .remat'
prints '2 instructions (0 of cost 0), 5.00 us in all'

printf 'costs { nam' >"$tmp/cut.pbtxt"
expect 1 show "$tmp/cut.pbtxt"
cp "$runs/fsdp_unrolled/jaxlib_profile.pb" "$tmp/profile.txt"
expect 1 show "$tmp/profile.txt"
complains 'XLA reads .pb (binary) and .pbtxt (text), and ignores any other name'
expect 1 show "$tmp/none.pb"
expect 2 show
