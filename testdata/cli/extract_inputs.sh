#!/usr/bin/env bash
# Where pgle-extract takes traces from: log and run directories, files, pipes, packed or not.
. "$(dirname "$0")/lib.sh"
extract=$bin/pgle-extract
packed=$data/runs/fsdp_scan/trace/vm.xplane.pb.zst

run 0 "$extract" "$packed" -o "$work/expected.pb"
logs=$work/logs/plugins/profile
mkdir -p "$logs/2026_11_30_10_00_00" "$logs/2026_11_30_09_00_00"
zstd -dqc "$packed" >"$logs/2026_11_30_10_00_00/vm.xplane.pb"
cp "$data/runs/two_process/trace/host0.xplane.pb.zst" "$logs/2026_11_30_09_00_00/"

run 0 "$extract" "$work/logs" -o "$work/log.pb"
says '2 runs: taking the newest, 2026_11_30_10_00_00'
same "$work/expected.pb" "$work/log.pb"
run 0 "$extract" "$work/logs" --run 2026_11_30_09_00_00 -o "$work/older.pb"
cmp -s "$work/expected.pb" "$work/older.pb" && fail "--run has no effect"
run 1 "$extract" "$work/logs" --run 1999 -o "$work/x.pb"
says 'runs there: 2026_11_30_09_00_00 2026_11_30_10_00_00'
run 0 "$extract" "$logs/2026_11_30_10_00_00" -o "$work/run.pb"
same "$work/expected.pb" "$work/run.pb"

gzip -c "$logs/2026_11_30_10_00_00/vm.xplane.pb" >"$work/vm.xplane.pb.gz"
run 0 "$extract" "$work/vm.xplane.pb.gz" -o "$work/gz.pb"
same "$work/expected.pb" "$work/gz.pb"
for file in "$packed" "$work/vm.xplane.pb.gz" "$logs/2026_11_30_10_00_00/vm.xplane.pb"; do
  "$extract" - -q -o "$work/stdin.pb" <"$file" || fail "stdin: $file"
  same "$work/expected.pb" "$work/stdin.pb"
done
cat "$packed" | "$extract" - -q -o - >"$work/pipe.pb" || fail "pipe"
same "$work/expected.pb" "$work/pipe.pb"

# The HLO from a dump folder, where the trace has none: quiet about modules it has.
run 0 "$extract" "$packed" --hlo "$data/runs/fsdp_scan/hlo/profiled" -o "$work/hlo.pb"
same "$work/expected.pb" "$work/hlo.pb"

# Names with blanks; a link to the output stays a link.
mkdir "$work/with blank"
cp "$packed" "$work/with blank/a b.xplane.pb.zst"
ln -s "$work/real.pb" "$work/link.pb"
touch "$work/real.pb"
run 0 "$extract" "$work/with blank" -o "$work/link.pb"
[ -L "$work/link.pb" ] || fail "the link was replaced"
same "$work/expected.pb" "$work/real.pb"
finish
