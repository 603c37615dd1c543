#!/usr/bin/env bash
# Sample files: as one extraction over all processes; trees; correction over processes; refusals.
. "$(dirname "$0")/lib.sh"
merge=$bin/pgle-merge
extract=$bin/pgle-extract
trace=$data/runs/two_process/trace

for host in 0 1; do
  "$extract" -q "$trace/host$host.xplane.pb.zst" --samples "$work/host$host.samples" 2>/dev/null
done
"$extract" -q "$trace"/host{0,1}.xplane.pb.zst --samples "$work/both.samples" -o "$work/both.pb"

run 0 "$merge" "$work"/host{0,1}.samples -o "$work/merged.pb" --samples-out "$work/tree.samples"
says '^collectives: 330 of 330 executions matched across processes; '
says 'keys both, median'
same "$work/merged.pb" "$work/both.pb"
same "$work/tree.samples" "$work/both.samples"
run 0 "$merge" "$work"/host{1,0}.samples --samples-out "$work/turned.samples" -j 8
same "$work/turned.samples" "$work/tree.samples"
run 0 "$merge" "$work/tree.samples" -o "$work/again.pb" --expect-processes 2
same "$work/again.pb" "$work/merged.pb"
"$extract" -q "$trace"/host{0,1}.xplane.pb.zst --stat p75 -o "$work/p75.pb"
run 0 "$merge" "$work"/host?.samples -p 75 -o "$work/merged75.pb"
same "$work/merged75.pb" "$work/p75.pb"
run 0 "$merge" "$work"/host?.samples --per-module "$work/modules" --keys qualified
run 0 "$merge" "$work"/host?.samples --keys qualified -o "$work/qualified.pb"
same "$work/modules/"*.pb "$work/qualified.pb"

# A directory and a list.
mkdir "$work/dir"
cp "$work"/host?.samples "$work/dir"
run 0 "$merge" "$work/dir" -o "$work/again.pb"
same "$work/again.pb" "$work/merged.pb"

# A process that comes twice, a process too few, a cut file.
run 3 "$merge" "$work/host0.samples" "$work/tree.samples" -o "$work/none.pb"
says 'error: .*tree.samples: holds process vm/host0.*, which .*host0.samples holds too'
run 3 "$merge" "$work"/host{0,0}.samples -o "$work/none.pb"
says 'error: .*host0.samples: is named twice'
run 3 "$merge" "$work"/host?.samples -o "$work/none.pb" --expect-processes 3
for bytes in 0 2 100 $(($(stat -c %s "$work/host1.samples") - 1)); do
  head -c "$bytes" "$work/host1.samples" >"$work/cut.samples"
  run 1 "$merge" "$work/host0.samples" "$work/cut.samples" -o "$work/none.pb" \
    --samples-out "$work/none.samples"
  one_line_error
  says 'cut.samples: '
  run 0 "$merge" "$work/host0.samples" "$work/cut.samples" -o "$work/one.pb" --failure-mode warn
  says 'warning: .*cut.samples.*skipped'
  run 1 "$merge" "$work/cut.samples" -o "$work/none.pb" --failure-mode warn
done
run 2 "$merge" "$work"/host?.samples --samples-out "$work/host1.samples"
absent "$work/none.pb"
absent "$work/none.samples"
[ -z "$(find "$work" -name '*.tmp*')" ] || fail "temporary files are left behind"
finish
