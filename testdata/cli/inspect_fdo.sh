#!/usr/bin/env bash
# pgle-inspect fdo.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
runs=$data/runs

dump=$runs/auto_pgle/dump
filled=module_443231.jit_train_step.before_optimizations.fdo_profile
run 0 "$inspect" fdo "$dump"
prints 'module jit_train_step: 2 compiles'
prints '2667: empty, equal at 4 dump points'
prints '443231: 264 costs, 8126 bytes'
prints 'filled since the compile before'
run 0 "$inspect" fdo "$dump" --profile "$dump/$filled"
prints "against $dump/$filled: equal"
run 0 "$inspect" fdo "$dump" --profile "$runs/aggregate/in0.pb"
prints '259 costs differ'
run 0 "$inspect" fdo "$dump" --json
prints '"schema": "pgle.inspect.fdo/1"'

# Only the first compile: why it is empty.
mkdir "$work/dump"
cp "$dump"/module_2667.*.fdo_profile "$work/dump"
run 0 "$inspect" fdo "$work/dump"
prints 'A profile given by --xla_gpu_pgle_profile_file_or_directory_path never appears here'

run 1 "$inspect" fdo "$runs/aggregate"
complains 'holds no .fdo_profile file'
run 1 "$inspect" fdo "$work/none"
complains 'does not exist'
head -c 5000 "$dump/$filled" >"$work/dump/$filled"
run 1 "$inspect" fdo "$work/dump"
complains "$work/dump/$filled: not a profile, or cut short"
run 2 "$inspect" fdo
finish
