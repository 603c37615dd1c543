#!/usr/bin/env bash
# pgle-inspect coverage: output, gates, bad input.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
runs=$data/runs

optimized=jit_train_step.sm_9.0a_gpu_after_optimizations
hlo=$runs/fsdp_unrolled/hlo/profiled/module_2667.$optimized.hlo.pb.zst
profile=$runs/fsdp_unrolled/jaxlib_profile.pb

run 0 "$inspect" coverage --hlo "$hlo" "$profile"
prints '92.1 % by count'
prints '455 instructions'
prints '456 look-ups as XLA counts them'
prints 'missing    41'
prints '39 renamed after scheduling, 2 asynchronous pair left to XLA'
prints 'all-to-all-start.1 (renamed after scheduling: the profile has all-to-all.1.2)'
prints 'and 31 more; -v lists all, --json too'
[ ! -s "$work/stderr" ] || fail 'something on standard error'
run 0 "$inspect" -v coverage --hlo "$hlo" "$profile"
prints 'all-to-all-start.9 (renamed'

# Text and proto answer alike, byte for byte but for the file's name.
"$inspect" coverage --json --hlo "$hlo" "$profile" | grep -v '"file"\|"hlo"' >"$work/proto"
"$inspect" coverage --json --hlo "${hlo%.hlo.pb.zst}.txt.zst" "$profile" |
  grep -v '"file"\|"hlo"' >"$work/text"
cmp "$work/proto" "$work/text" || fail 'HLO text and proto give different answers'

# A folder, the gate, and what it counts.
run 0 "$inspect" coverage --hlo "${hlo%/*}" "$profile" --min 92%
run 3 "$inspect" coverage --hlo "${hlo%/*}" "$profile" --min 93%
complains 'covers less than the 93.0 % asked for (jit_train_step: 455 found, 92.1 %)'
run 3 "$inspect" coverage --hlo "$hlo" "$profile" --min 0.92 --strict
run 3 "$inspect" coverage --hlo "$runs/logs/hlo" "$runs/logs/foreign_profile.pb" --min 1%
prints 'foreign fingerprint'
run 0 "$inspect" coverage --hlo "$hlo" "$profile" --trace "$runs/fsdp_unrolled/trace/vm.xplane.pb.zst"
prints 'by device time'
run 0 "$inspect" coverage --hlo "$runs/autotune_drift/hlo/recompiled" "$runs/autotune_drift/jaxlib_profile.pb"
prints '12 autotuner chose another kernel'

# AutoPGLE's own profile with the HLO of the first compile and of the second.
fdo=$runs/auto_pgle/dump/module_443231.$optimized.fdo_profile
run 0 "$inspect" coverage --hlo "$runs/auto_pgle/dump/module_2667.$optimized.hlo.pb.zst" "$fdo"
prints '243 look-ups'
prints 'missing    23'
run 0 "$inspect" coverage --hlo "$runs/auto_pgle/dump" "$fdo"
prints '1 module not judged'
run 0 "$inspect" coverage --hlo "$runs/fsdp_unrolled/hlo/recompiled" "$profile"
prints 'undecided  4 collectives'

# Bad input: one line, status 1.
zstd -dcq "$hlo" >"$work/module.hlo.pb"
head -c 20000 "$work/module.hlo.pb" >"$work/cut.hlo.pb"
run 1 "$inspect" coverage --hlo "$work/cut.hlo.pb" "$profile"
complains "$work/cut.hlo.pb: not an HLO module, or cut short"
one_line_error
run 1 "$inspect" coverage --hlo "$runs/aggregate" "$profile"
complains 'holds no optimized HLO module'
one_line_error
run 1 "$inspect" coverage --hlo "$profile" "$profile"
one_line_error
run 1 "$inspect" coverage --hlo "$work/none" "$profile"
complains 'does not exist'
cp "$work/module.hlo.pb" "$work/module.pb"
run 1 "$inspect" coverage --hlo "$hlo" "$work/module.pb"
complains 'not a profile'
one_line_error
run 1 "$inspect" coverage --hlo "$hlo" "$work/module.hlo.txt"
one_line_error
: >"$work/empty.pb"
run 1 "$inspect" coverage --hlo "$hlo" "$work/empty.pb"
complains 'holds no cost'
head -c 3000 "$profile" >"$work/cut.pb"
run 1 "$inspect" coverage --hlo "$hlo" "$work/cut.pb"
complains 'cut short'
run 1 "$inspect" coverage --hlo "$hlo" "$profile" --module no_such_module
run 2 "$inspect" coverage --hlo "$hlo" "$profile" --min lots
run 2 "$inspect" coverage --hlo "$hlo" "$profile" --min nan
run 2 "$inspect" coverage "$profile"
finish
