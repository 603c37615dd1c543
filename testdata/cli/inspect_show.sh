#!/usr/bin/env bash
# pgle-inspect show.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
runs=$data/runs

run 0 "$inspect" show "$runs/fsdp_unrolled/jaxlib_profile.pb" --top 3
prints '495 entries, 495 instructions'
prints 'all-gather'
prints 'gemm'
prints 'and 492 more; -v lists all, --json too'
run 0 "$inspect" show "$runs/fsdp_unrolled/qualified_profile.pb"
prints 'for fingerprint 605d21f72f8fa854186da0f7bc4522b2'
run 0 "$inspect" show "$runs/fsdp_unrolled/jaxlib_profile.pb" --json
prints '"schema": "pgle.inspect.show/1"'

cat >"$work/odd.pbtxt" <<'P'
costs { name: "dot.1" cost_us: 3 }
costs { name: "dot.1" cost_us: 4 }
costs { name: "f::copy.remat2" cost_us: 1 }
costs { name: "f::a::b" cost_us: 9 }
P
run 0 "$inspect" show "$work/odd.pbtxt"
prints '1 name more than once, the last entry wins: dot.1'
prints "1 entry that XLA drops, '::' in the instruction's name: f::a::b"
prints 'names with .remat'
prints '2 instructions (0 of cost 0), 5.00 us in all'

printf 'costs { nam' >"$work/cut.pbtxt"
run 1 "$inspect" show "$work/cut.pbtxt"
cp "$runs/fsdp_unrolled/jaxlib_profile.pb" "$work/profile.txt"
run 1 "$inspect" show "$work/profile.txt"
complains 'XLA reads .pb (binary) and .pbtxt (text), and ignores any other name'
run 1 "$inspect" show "$work/none.pb"
run 2 "$inspect" show
finish
