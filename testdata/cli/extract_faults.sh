#!/usr/bin/env bash
# Every fault is one line that names file, cause and next step; nothing is written.
. "$(dirname "$0")/lib.sh"
extract=$bin/pgle-extract
packed=$data/runs/fsdp_scan/trace/vm.xplane.pb.zst
zstd -dqc "$packed" >"$work/whole.xplane.pb"
size=$(stat -c %s "$work/whole.xplane.pb")

refused() { # refused STATUS PATTERN ARGUMENTS...
  local status=$1 pattern=$2
  shift 2
  run "$status" "$extract" "$@" -o "$work/out.pb"
  one_line_error
  says "$pattern"
  absent "$work/out.pb"
}

refused 1 'does not exist' "$work/missing"
mkdir "$work/empty"
refused 1 'holds no trace' "$work/empty"
: >"$work/empty.xplane.pb"
refused 1 'empty.xplane.pb: holds no device plane' "$work/empty.xplane.pb"
for bytes in 100 5000 $((size / 2)) $((size - 1)); do
  head -c "$bytes" "$work/whole.xplane.pb" >"$work/cut.xplane.pb"
  refused 1 "cut.xplane.pb: not a whole XSpace trace: bad data at byte [0-9]+ of $bytes" \
    "$work/cut.xplane.pb"
done
head -c 20000 "$packed" >"$work/cut.xplane.pb.zst"
refused 1 'the zstd stream ends too early' "$work/cut.xplane.pb.zst"
{ head -c 20000 "$packed"; echo rubbish; tail -c +20008 "$packed"; } >"$work/bad.xplane.pb.zst"
refused 1 'damaged zstd stream' "$work/bad.xplane.pb.zst"
echo '{"traceEvents": []}' >"$work/json.xplane.pb"
refused 1 'json.xplane.pb: not a whole XSpace' "$work/json.xplane.pb"
cp "$extract" "$work/elf.xplane.pb"
refused 1 'elf.xplane.pb: not a whole XSpace' "$work/elf.xplane.pb"
refused 2 'is named twice' "$packed" "$packed"
run 1 "$extract" "$packed" -o "$work/no/such/dir.pb"
one_line_error
says 'must exist and be writable'

# Among several inputs a bad one stops everything.
refused 1 'cut.xplane.pb.zst' "$packed" "$work/cut.xplane.pb.zst"

# Wrong calls are 2, on one line and a hint.
run 2 "$extract"
run 2 "$extract" "$packed" -o "$work/out.pb" --no-such-option
says 'help'
run 2 "$extract" "$packed" -o "$work/out.pb" --keys sometimes
run 2 "$extract" "$packed" -o "$work/out.pb" --jobs 0

# A dump that is not this run's.
sed 's#/host:metadata#/host:nothing!#' "$work/whole.xplane.pb" >"$work/nohlo.xplane.pb"
refused 1 'holds none of the modules' "$work/nohlo.xplane.pb" --hlo "$data/runs/two_process/hlo/host0/../../../two_modules/hlo/profiled/module_"*eval*
refused 1 'does not exist' "$packed" --hlo "$work/missing"
run 0 "$extract" "$work/nohlo.xplane.pb" -o "$work/out.pb"
says 'no fingerprint is known'
says 'coverage    unknown'

# Coverage that nobody knows passes no gate, and neither does an empty or odd figure.
run 3 "$extract" "$work/nohlo.xplane.pb" -o "$work/gate.pb" --min-coverage 1%
says 'the coverage is unknown'
absent "$work/gate.pb"
for share in '' nan 0x20 101% -3; do
  run 2 "$extract" "$packed" -o "$work/gate.pb" --min-coverage "$share"
done
run 2 "$extract" "$packed" -o "$work/gate.pb" --skip-first=-1

# Outputs that would destroy an input or one another; all of them appear, or none.
cp "$work/whole.xplane.pb" "$work/precious.xplane.pb"
run 2 "$extract" "$work/precious.xplane.pb" -o "$work/precious.xplane.pb"
same "$work/whole.xplane.pb" "$work/precious.xplane.pb"
run 2 "$extract" "$packed" -o "$work/x.pb" --json "$work/x.pb"
run 2 "$extract" "$packed" -o - --samples -
run 2 "$extract" "$packed" --samples "$work/s.zst" --depfile "$work/s.d"
run 1 "$extract" "$packed" -o "$work/x.pb" --samples "$work/s.zst" --json "$work/no/such/dir.json"
absent "$work/x.pb"
absent "$work/s.zst"

# One recording twice, packed beside plain or under another name.
mkdir "$work/twice"
cp "$work/whole.xplane.pb" "$work/twice/a.xplane.pb"
zstd -q "$work/twice/a.xplane.pb"
run 0 "$extract" "$work/twice" -o "$work/twice.pb"
says 'ran         6 times'
cp "$work/whole.xplane.pb" "$work/twice/b.xplane.pb"
run 2 "$extract" "$work/twice" -o "$work/twice.pb"
says 'is the same recording as'

# --compat has no report and no coverage.
run 2 "$extract" "$packed" --compat jaxlib --samples "$work/s.zst"
run 2 "$extract" "$packed" --compat jaxlib -o "$work/x.pb" --json "$work/x.json"

# Standard streams that are closed or full neither kill it nor end up in a file.
"$extract" "$packed" -o "$work/closed.pb" >&- 2>&- <&- || fail "closed streams"
"$extract" "$packed" -o "$work/full.pb" 2>/dev/full || fail "a full standard error"
same "$work/closed.pb" "$work/full.pb"
status=0
"$extract" --help >/dev/full 2>/dev/null || status=$?
[ "$status" -eq 1 ] || fail "--help to a full disk gives $status"
mkdir "$work/loop"
ln -s loop.xplane.pb "$work/loop/loop.xplane.pb"
run 1 "$extract" "$work/loop" -o "$work/x.pb"
one_line_error

# A full disk leaves the old file as it was, and nothing else.
status=0
"$extract" "$packed" -o - >/dev/full 2>"$work/stderr" || status=$?
[ "$status" -eq 1 ] || fail "a full standard output gives status $status"
says 'No space left'
rm -f "$work/out.pb"
echo old >"$work/keep.pb"
(ulimit -f 1; run 1 "$extract" "$packed" -o "$work/keep.pb"; one_line_error; finish) || fail "file size limit"
[ "$(cat "$work/keep.pb")" = old ] || fail "the old profile is gone"
[ -z "$(find "$work" -name '*.tmp*')" ] || fail "temporary files are left behind"
finish
