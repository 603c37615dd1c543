#!/usr/bin/env bash
# pgle-inspect log: modules, sources, counts, small modules by stem, JSON.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
logs=$data/runs/logs

run 0 "$inspect" log "$logs/used.log.zst"
prints 'profile from /tmp/p/logs/good.pb: 126 look-ups found, 15 instructions missing'
prints 'and 10 more (-v lists them)'
prints '497 compiles of small modules (8 names'
prints '451 x gemm_fusion_dot: 44 look-ups found, 168 instructions missing'
[ "$(wc -l <"$work/stdout")" -lt 40 ] || fail "the autotuner's modules are listed"
run 0 "$inspect" log -v "$logs/used.log.zst"
prints 'all-gather-start.1 all-to-all-start all-to-all-start.1'
run 0 "$inspect" log --module 'gemm_fusion_dot.1[0-9]' "$logs/used.log.zst"
prints '  gemm_fusion_dot.1'
run 0 "$inspect" log "$logs/vlog.log.zst"
prints 'jit_train_step a568426b26dda69ecbcca48b6bb52843'
prints 'instructions without a cost: SolLatencyEstimator'
run 0 "$inspect" log "$logs/empty_dir.log.zst" "$logs/missing_file.log.zst" "$logs/autopgle_contended.log.zst"
prints '/tmp/p/logs/tr/ has no file for 502 fingerprints'
prints '/tmp/p/logs/nosuch.pb does not exist (502 times)'
prints 'CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (1 times)'

# The same of a log in colours, with carriage returns, labelled, and of both packers.
run 0 "$inspect" log "$logs/used.log.zst"
tail -n +2 "$work/stdout" >"$work/plain"
zstd -dcq "$logs/used.log.zst" >"$work/used.log"
sed $'s/^\\([IWE][0-9]*\\)/\\x1b[33m\\1\\x1b[0m/; s/$/\\x1b[K\\r/' "$work/used.log" >"$work/colours.log"
sed 's/^/[1,3]<stderr>:/' "$work/used.log" >"$work/label.log"
gzip -k "$work/used.log"
for log in used.log used.log.gz colours.log label.log; do
  run 0 "$inspect" log "$work/$log"
  tail -n +2 "$work/stdout" >"$work/other"
  same "$work/plain" "$work/other"
done
prints 'label.log [[1,3]<stderr>]'
"$inspect" log - <"$work/used.log" | tail -n +2 >"$work/other"
same "$work/plain" "$work/other"

# Two processes interleaved line by line.
paste -d '\n' <(sed 's/^/0: /' "$work/used.log") \
  <(zstd -dcq "$logs/foreign_fp.log.zst" | sed 's/^/1: /') >"$work/two.log"
run 0 "$inspect" log "$work/two.log"
prints '126 look-ups found, 15 instructions missing'
prints '0 look-ups found, 139 instructions missing'

compile='{"times": "int", "source": "string", "path": "string", "profile_found": "bool",
  "failure": "string", "found_lookups": "int?", "missing_instructions": "int?",
  "missing_names": ["string"], "fallback": "string", "scheduled": "bool", "threads_mixed": "bool",
  "not_applicable": "bool", "compile_failed": "bool"}'
shape='{"schema": "=pgle.inspect.log/1", "files": [{"file": "string", "bytes": "int"}],
  "processes": [{"file": "string", "process": "string", "start": "int", "shows_info": "bool",
  "accuracy_checker_spoke": "bool", "modules": [{"module": "string", "fingerprints": ["string"],
  "compiles": ['$compile'], "compiles_left_out": "int", "cache": {"pgle_hit": "bool",
  "plain_hit": "bool", "pgle_miss": "bool", "unexpected_write": "bool"}}],
  "small_modules": [{"stem": "string", "compiles": "int", "found_lookups": "int",
  "missing_instructions": "int"}], "missing_files": [{"path": "string", "times": "int"}],
  "missing_fingerprints": "int", "unreadable_files": [{"path": "string", "message": "string"}],
  "unreadable_fdo_profiles": "int", "cupti_errors": [{"name": "string", "times": "int"}],
  "empty_traces": "int", "failed_by_accuracy_checker": "int", "unknown_flags": "string"}]}'
for log in "$logs"/*.log.zst "$work/two.log"; do
  run 0 "$inspect" log --json "$log"
  python3 "$data/cli/json_shape.py" "$work/stdout" "$shape" || fail "JSON of $log"
done
run 0 "$inspect" log --json "$logs/used.log.zst"
cp "$work/stdout" "$work/first"
run 0 "$inspect" log --json "$logs/used.log.zst"
same "$work/first" "$work/stdout"

run 1 "$inspect" log "$logs/profile.pb"
one_line_error
complains 'is no log'
run 1 "$inspect" log "$logs"
one_line_error
run 2 "$inspect" log
finish
