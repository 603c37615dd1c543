#!/usr/bin/env bash
# What pgle-extract writes: formats, determinism, atomic replacement, refusals.
. "$(dirname "$0")/lib.sh"
extract=$bin/pgle-extract
trace=$data/runs/fsdp_scan/trace

run 0 "$extract" "$trace" -o "$work/a.pb"
run 0 "$extract" "$trace" -o "$work/b.pb" -j 4
same "$work/a.pb" "$work/b.pb"
[ ! -s "$work/stdout" ] || fail "standard output is not empty"

# Text and binary hold the same; standard output takes the binary.
run 0 "$extract" "$trace" -o "$work/a.pbtxt"
grep -q 'name: "all-gather-start"' "$work/a.pbtxt" || fail "no all-gather-start in the text"
run 0 "$extract" "$trace" -o -
same "$work/a.pb" "$work/stdout"

# Order of directory entries and -j do not matter; two processes are one profile.
two=$data/runs/two_process/trace
run 0 "$extract" "$two" -o "$work/dir.pb"
run 0 "$extract" "$two"/host1.xplane.pb.zst "$two"/host0.xplane.pb.zst -j 2 -o "$work/files.pb"
same "$work/dir.pb" "$work/files.pb"

# XLA reads .pb and .pbtxt only.
for name in profile.txt profile profile.pb.zst profile.fdo_profile; do
  run 2 "$extract" "$trace" -o "$work/$name"
  one_line_error
  says 'XLA reads .pb'
  absent "$work/$name"
done
run 2 "$extract" "$trace"
says 'nothing to write'

# Below the coverage asked for: status 3, nothing written, the report says why.
run 3 "$extract" "$data/runs/command_buffers/trace" -o "$work/low.pb" --min-coverage 95%
says 'not written: the profile covers 38\.8 %'
absent "$work/low.pb"
run 0 "$extract" "$data/runs/command_buffers/trace" -o "$work/low.pb" --min-coverage 38
run 3 "$extract" "$trace" -o "$work/strict.pb" --strict --min-coverage 100%
run 0 "$extract" "$trace" -o "$work/strict.pb" --strict --min-coverage 100% --async-fusions cost
run 2 "$extract" "$trace" -o "$work/x.pb" --min-coverage much

# One file a module, for XLA's directory look-up. A .pbtxt there would shadow the .pb.
run 0 "$extract" "$data/runs/two_modules/trace" --per-module "$work/modules"
[ "$(ls "$work/modules" | wc -l)" -eq 2 ] || fail "two modules give two files"
for file in "$work/modules"/*.pb; do
  [[ $(basename "$file") =~ ^[0-9a-f]{32}\.pb$ ]] || fail "$file is not named by a fingerprint"
  touch "${file%.pb}.pbtxt"
done
run 3 "$extract" "$data/runs/two_modules/trace" --per-module "$work/modules"
says 'XLA would read this file instead'

# make and ninja learn what was read.
run 0 "$extract" "$trace" -o "$work/a.pb" --depfile "$work/a.d"
grep -q "^$work/a.pb:" "$work/a.d" && grep -q 'vm.xplane.pb.zst' "$work/a.d" || fail "depfile"

# --module, --names, --keys, --stat.
run 0 "$extract" "$data/runs/two_modules/trace" -o "$work/eval.pbtxt" --module '_eval_'
grep -q '::all-reduce-start"' "$work/eval.pbtxt" || fail "eval lacks all-reduce-start"
grep 'name:' "$work/eval.pbtxt" | grep -qv '::' && fail "bare names for one module of two"
run 1 "$extract" "$data/runs/two_modules/trace" -o "$work/x.pb" --module nothing_like_it
says 'jit_train_step'
run 2 "$extract" "$trace" -o "$work/x.pb" --module '('
run 0 "$extract" "$trace" -o "$work/bare.pbtxt" --keys bare
grep -q '::' "$work/bare.pbtxt" && fail "qualified names with --keys bare"
run 0 "$extract" "$trace" -o "$work/qualified.pbtxt" --keys qualified
grep 'name:' "$work/qualified.pbtxt" | grep -qv '::' && fail "bare names with --keys qualified"
run 0 "$extract" "$trace" -o "$work/both.pbtxt" --keys bare --names both
for name in all-gather-start.7 all-gather.19 loop_dynamic_slice_fusion.17; do
  grep -q "\"$name\"" "$work/both.pbtxt" || fail "--names both lacks $name"
done
grep -q '"all-gather.19"' "$work/bare.pbtxt" && fail "a run-time name among scheduling names"
for stat in mean min max p10 p90.5 median; do
  run 0 "$extract" "$trace" -o "$work/stat.pb" --stat "$stat"
done
same "$work/a.pb" "$work/stat.pb"
run 2 "$extract" "$trace" -o "$work/x.pb" --stat average
run 0 "$extract" "$trace" -o "$work/plain.pb" --collectives plain
cmp -s "$work/a.pb" "$work/plain.pb" && fail "plain and transfer times are equal"

# No temporary file is left behind, whatever happened.
[ -z "$(find "$work" -name '*.tmp*')" ] || fail "temporary files are left behind"
finish
