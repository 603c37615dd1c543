#!/usr/bin/env bash
# Sample files: a zstd stream of one protobuf message that protoc decodes.
. "$(dirname "$0")/lib.sh"
extract=$bin/pgle-extract
two=$data/runs/two_process/trace

run 0 "$extract" "$two/host0.xplane.pb.zst" "$two/host1.xplane.pb.zst" --samples "$work/a.zst"
run 0 "$extract" "$two/host1.xplane.pb.zst" "$two/host0.xplane.pb.zst" -j 2 --samples "$work/b.zst"
same "$work/a.zst" "$work/b.zst"
run 0 "$extract" "$two/host0.xplane.pb.zst" --samples "$work/c.zst" -o "$work/c.pb"

zstd -dqc "$work/a.zst" | protoc --decode=pgle.proto.SampleFile -I"$data/../proto" pgle_samples.proto \
  >"$work/a.txt" || fail "protoc cannot decode the sample file"
[ "$(grep -c '^records {' "$work/a.txt")" -eq 528 ] || fail "264 names on two devices"
grep -q 'statistic: "median"' "$work/a.txt" || fail "statistic"
grep -q 'name: "vm/host0.xplane.pb.zst"' "$work/a.txt" || fail "process name"
grep -q 'class: COLLECTIVE' "$work/a.txt" || fail "collectives"
run 1 "$extract" "$two/host0.xplane.pb.zst" --samples "$work/no/such/dir.zst"
one_line_error
finish
