#!/usr/bin/env bash
# pgle-inspect diff. $1: folder of the binaries, $2: testdata. PGLE_PUBLIC_DATA: other people's
# published profiles, where at hand.
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

cat >"$tmp/a.pbtxt" <<'P'
costs { name: "dot.1" cost_us: 100 }
costs { name: "copy.1" cost_us: 10 }
P
cat >"$tmp/b.pbtxt" <<'P'
costs { name: "f::dot.1" cost_us: 115 }
costs { name: "f::copy.1" cost_us: 10 }
P
expect 0 diff "$tmp/a.pbtxt" "$tmp/b.pbtxt"
prints '1 of 2 common names equal'
prints '+15.0 %      100.00 ->     115.00 us  dot.1'
expect 0 diff "$tmp/a.pbtxt" "$tmp/b.pbtxt" --fail-over 20%
expect 3 diff "$tmp/a.pbtxt" "$tmp/b.pbtxt" --fail-over 10%
complains '1 cost changed by more than 10.0 % or stand'
expect 0 diff "$tmp/a.pbtxt" "$tmp/a.pbtxt" --fail-over 0
echo 'costs { name: "new" cost_us: 1 }' >>"$tmp/b.pbtxt"
expect 3 diff "$tmp/a.pbtxt" "$tmp/b.pbtxt" --fail-over 20%
prints "1 only in $tmp/b.pbtxt"
expect 0 diff "$tmp/a.pbtxt" "$tmp/b.pbtxt" --json
prints '"schema": "pgle.inspect.diff/1"'
expect 0 diff "$runs/fsdp_unrolled/jaxlib_profile.pb" "$runs/fsdp_unrolled/qualified_profile.pb"
prints '494 changed'
prints 'and 484 more; -v lists all, --json too'

expect 1 diff "$tmp/a.pbtxt" "$tmp/none.pb"
expect 2 diff "$tmp/a.pbtxt" "$tmp/b.pbtxt" --fail-over much
expect 2 diff "$tmp/a.pbtxt"

if [ -n "${PGLE_PUBLIC_DATA:-}" ]; then
  expect 0 diff "$PGLE_PUBLIC_DATA"/maxtext_{bf16,fp8}_64vm.pbtxt --fail-over 0
  expect 3 diff "$PGLE_PUBLIC_DATA"/maxtext_bf16_{64,128}vm.pbtxt --fail-over 20%
fi
