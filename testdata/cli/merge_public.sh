#!/usr/bin/env bash
# Other people's published profiles and HLO, where they lie beside the repository: real duplicates,
# real identical files, real drift.
public=${PGLE_PUBLIC_DATA:-$2/../../shared/data/public}
[ -r "$public/maxtext_bf16_128vm.pbtxt" ] || { echo "$public: not there" >&2; exit 77; }
. "$(dirname "$0")/lib.sh"
merge=$bin/pgle-merge

run 0 "$merge" "$public"/maxtext_*.pbtxt -o "$work/out.pb" --json "$work/out.json"
says 'maxtext_bf16_64vm.pbtxt: equal byte for byte: .*maxtext_fp8_64vm.pbtxt'
says 'maxtext_bf16_128vm.pbtxt and 2 more inputs: holds 19 names more than once'
says 'custom-call.35.0 4 times \(206.112 us\)'
says 'XLA would use the last entry'
says '^read 3 profiles, 2 of them different: 2151 entries$'
run 3 "$merge" "$public"/maxtext_*.pbtxt -o "$work/none.pb" --expect-processes 3
absent "$work/none.pb"

# Two ranks of one job whose autotuners chose other tilings: equal names, other fingerprints.
fingerprints=(25fa0b3e673a92036f22550cd7bcb068 04555b1419fd4e5b8933dc47fbf80dbb)
for rank in 0 1; do
  echo "costs { name: \"${fingerprints[rank]}::x\" cost_us: 1 }" >"$work/rank$rank.pbtxt"
done
run 3 "$merge" "$work"/rank?.pbtxt -o "$work/none.pb" --json "$work/out.json" \
  --hlo "$public/pax_fsdp4_proc0.hlo.pb.zst" --hlo "$public/pax_fsdp4_proc3.hlo.pb.zst"
says 'by their HLO these instructions differ: gemm_fusion_dot.460.0, .* and 7 more'
grep -q '"gemm_fusion_dot.462.0"' "$work/out.json" || fail "the JSON report lacks an instruction"
finish
