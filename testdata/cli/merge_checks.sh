#!/usr/bin/env bash
# What is checked before anything is written; refusals are 3, unreadable inputs 1, wrong calls 2.
. "$(dirname "$0")/lib.sh"
merge=$bin/pgle-merge
in=$data/runs/aggregate
out=$work/out.pb

profile() { # profile FILE NAME=COST...
  local file=$1 entry
  shift
  for entry in "$@"; do
    echo "costs { name: \"${entry%=*}\" cost_us: ${entry##*=} }"
  done >"$file"
}
refused() { # refused STATUS PATTERN ARGUMENTS...: the last line is the error, nothing is written
  local status=$1 pattern=$2
  shift 2
  run "$status" "$merge" "$@" -o "$out"
  tail -1 "$work/stderr" | grep -qE -- "error: .*$pattern" || {
    fail "the last line is no error like: $pattern"
    sed 's/^/    /' "$work/stderr" >&2
  }
  absent "$out"
}

# Drift. Several versions that all have alike are none.
profile "$work/a.pbtxt" f::x=10 f::y=10
profile "$work/b.pbtxt" f::x=11 f::y=11
profile "$work/c.pbtxt" g::x=12 g::z=12
refused 3 'drift: .*f in .*a.pbtxt, .*b.pbtxt; g in .*c.pbtxt; .*differ: y, z' "$work"/{a,b,c}.pbtxt
run 0 "$merge" "$work"/{a,b,c}.pbtxt -o "$out" --allow-drift
says 'warning: drift'
rm "$out"
for host in d e; do profile "$work/$host.pbtxt" f::x=1 g::x=2; done
run 0 "$merge" "$work"/{d,e}.pbtxt -o "$out"
! grep -q drift "$work/stderr" || fail "versions that all have are taken for drift"
rm "$out"
refused 3 'drift' "$work"/{a,c}.pbtxt --json "$work/refused.json"
grep -q '"refused": {' "$work/refused.json" || fail "the JSON report lacks the refusal"

# With HLO the instructions are named although their names are equal.
profiled=$data/runs/autotune_drift/hlo/profiled
recompiled=$data/runs/autotune_drift/hlo/recompiled
profile "$work/p.pbtxt" a0e0a7a29d0ab9f69603f8c117dbb560::x=1
profile "$work/r.pbtxt" f3986a2c2abb20d90fa31a04df7d594a::x=1
refused 3 'by their HLO these instructions differ: [a-z]' "$work"/{p,r}.pbtxt \
  --hlo "$profiled" --hlo "$recompiled"
refused 1 'does not exist' "$work"/{p,r}.pbtxt --hlo "$work/missing"

# Missing processes; equal files are one.
refused 3 'processes: 4 expected, 3 found' "$in"/in?.pb --expect-processes 4
cp "$in/in0.pb" "$work/copy.pb"
refused 3 'processes: 2 expected, 1 found' "$in/in0.pb" "$work/copy.pb" --expect-processes 2
run 0 "$merge" "$in/in0.pb" "$work/copy.pb" -o "$out"
says 'warning: .*in0.pb: equal byte for byte: .*copy.pb'
rm "$out"

# Duplicates: the last entry wins in XLA, or the average with .remat.
profile "$work/twice.pbtxt" x=1 x=3
run 0 "$merge" "$work/twice.pbtxt" -o "$out"
says 'x 2 times \(3 us\); XLA would use the last entry'
profile "$work/remat.pbtxt" x=1 x=3 y.remat=5
run 0 "$merge" "$work/remat.pbtxt" -o "$out"
says 'x 2 times \(2 us\); XLA would use their average'

# Spread, bare names without a twin, bare names of two modules.
profile "$work/slow.pbtxt" f::x=100 f::y=10
run 0 "$merge" "$work"/{a,slow}.pbtxt -o "$out"
says 'f::x \(10.0 us in .*a.pbtxt, 100.0 us in .*slow.pbtxt\)'
run 0 "$merge" "$work"/{a,slow}.pbtxt -o "$out" --max-spread 20
! grep -q 'more than a factor' "$work/stderr" || fail "--max-spread is not heeded"
profile "$work/lone.pbtxt" f::x=10 f::y=10 y=10 z=3
run 0 "$merge" "$work"/{a,lone}.pbtxt -o "$out"
says '1 name without a qualified twin beside qualified ones: z'
profile "$work/m1.pbtxt" x=1 f::x=1
profile "$work/m2.pbtxt" x=2 g::x=2
run 0 "$merge" "$work"/{m1,m2}.pbtxt -o "$out" --allow-drift
says '1 bare name is taken over different modules: x \(of f and g\)'
rm "$out"

# Unreadable inputs.
size=$(stat -c %s "$in/in1.pb")
: >"$work/empty.pb"
head -c $((size - 3)) "$in/in1.pb" >"$work/cut.pb"
zstd -q "$in/in1.pb" -o "$work/whole.pb.zst"
head -c 900 "$work/whole.pb.zst" >"$work/cut.pb.zst"
zstd -dqc "$data/runs/two_process/trace/host0.xplane.pb.zst" >"$work/trace.pb"
for bad in empty.pb cut.pb cut.pb.zst trace.pb missing.pb; do
  refused 1 "$bad: .*--failure-mode warn" "$in/in0.pb" "$work/$bad" "$in/in2.pb"
  one_line_error
  run 0 "$merge" "$in/in0.pb" "$work/$bad" "$in/in2.pb" -o "$out" --failure-mode warn \
    --json "$work/out.json"
  says "warning: .*$bad: skipped: "
  says '^skipped 1 input that cannot be read$'
  grep -A2 '"skipped": \[' "$work/out.json" | grep -q "$bad" || fail "the JSON report lacks $bad"
  rm "$out"
  refused 1 "none of 1 inputs can be read" "$work/$bad" --failure-mode warn
done
refused 3 'processes: 3 expected, 2 found' "$in"/in{0,1}.pb "$work/empty.pb" \
  --failure-mode warn --expect-processes 3

# Wrong calls.
run 2 "$merge" "$in/in0.pb" -p 101 -o "$out"
says 'not in range'
refused 2 'profiles and sample files' "$in/in0.pb" "$work/x.samples"
refused 2 'hold no samples' "$in/in0.pb" --samples-out "$work/x.samples"
refused 1 'the list is empty' "@$work/empty.pb"
run 2 "$merge" "$in/in0.pb"
run 2 "$merge"
run 2 "$merge" "$in/in0.pb" -o "$work/out.txt"
says 'XLA reads .pb'
cp "$in/in0.pb" "$work/both.pb"
run 2 "$merge" "$work/both.pb" "$in/in1.pb" -o "$work/both.pb"
says 'is an input as well'
same "$work/both.pb" "$in/in0.pb"
finish
