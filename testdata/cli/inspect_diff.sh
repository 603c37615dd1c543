#!/usr/bin/env bash
# pgle-inspect diff. PGLE_PUBLIC_DATA: other people's published profiles, where at hand.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
runs=$data/runs

cat >"$work/a.pbtxt" <<'P'
costs { name: "dot.1" cost_us: 100 }
costs { name: "copy.1" cost_us: 10 }
P
cat >"$work/b.pbtxt" <<'P'
costs { name: "f::dot.1" cost_us: 115 }
costs { name: "f::copy.1" cost_us: 10 }
P
run 0 "$inspect" diff "$work/a.pbtxt" "$work/b.pbtxt"
prints '1 of 2 common names equal'
prints '+15.0 %      100.00 ->     115.00 us  dot.1'
run 0 "$inspect" diff "$work/a.pbtxt" "$work/b.pbtxt" --fail-over 20%
run 3 "$inspect" diff "$work/a.pbtxt" "$work/b.pbtxt" --fail-over 10%
complains '1 cost changed by more than 10.0 % or stand'
run 0 "$inspect" diff "$work/a.pbtxt" "$work/a.pbtxt" --fail-over 0
echo 'costs { name: "new" cost_us: 1 }' >>"$work/b.pbtxt"
run 3 "$inspect" diff "$work/a.pbtxt" "$work/b.pbtxt" --fail-over 20%
prints "1 only in $work/b.pbtxt"
run 0 "$inspect" diff "$work/a.pbtxt" "$work/b.pbtxt" --json
prints '"schema": "pgle.inspect.diff/1"'
run 0 "$inspect" diff "$runs/fsdp_unrolled/jaxlib_profile.pb" "$runs/fsdp_unrolled/qualified_profile.pb"
prints '494 changed'
prints 'and 484 more; -v lists all, --json too'

run 1 "$inspect" diff "$work/a.pbtxt" "$work/none.pb"
run 2 "$inspect" diff "$work/a.pbtxt" "$work/b.pbtxt" --fail-over much
run 2 "$inspect" diff "$work/a.pbtxt"

if [ -n "${PGLE_PUBLIC_DATA:-}" ]; then
  run 0 "$inspect" diff "$PGLE_PUBLIC_DATA"/maxtext_{bf16,fp8}_64vm.pbtxt --fail-over 0
  run 3 "$inspect" diff "$PGLE_PUBLIC_DATA"/maxtext_bf16_{64,128}vm.pbtxt --fail-over 20%
fi
finish
