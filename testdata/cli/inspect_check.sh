#!/usr/bin/env bash
# pgle-inspect check: verdicts, exit statuses, JSON.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
logs=$data/runs/logs
slow=$data/runs/fsdp_slow_link

# verdict STATUS VERDICT TEXT OPTION...: exit status, last line, and a text of the output.
verdict() {
  local status=$1 wanted=$2 text=$3
  shift 3
  run "$status" "$inspect" check "$@"
  [[ $(tail -1 "$work/stdout") == "verdict: $wanted "* ]] || fail "no verdict '$wanted': $*"
  prints "$text"
}

# The nine situations, the target named and found.
for target in '--module jit_train_step' ''; do
  verdict 0 used '126 look-ups found, 15 instructions missing (89.4 %)' --log "$logs/used.log.zst" $target
  verdict 0 used 'from fdo_profile (binary)' --log "$logs/autopgle.log.zst" $target
  verdict 0 used '126 look-ups found' --log "$logs/vlog.log.zst" $target
  verdict 3 'not used' 'fingerprint of another module' --log "$logs/foreign_fp.log.zst" $target
  verdict 3 'not used' 'does not exist: /tmp/p/logs/nosuch.pb' --log "$logs/missing_file.log.zst" $target
  verdict 3 'not used' 'holds no <fingerprint>.pb' --log "$logs/empty_dir.log.zst" $target
  verdict 3 'not used' 'another tool holds CUPTI' --log "$logs/autopgle_contended.log.zst" $target
  verdict 3 'not shown' 'no line about a profile' --log "$logs/stray_token.log.zst" $target
  verdict 3 'not shown' 'no line about a profile' --log "$logs/wrong_ext.log.zst" $target
done
flag=--xla_gpu_pgle_profile_file_or_directory_path
verdict 3 'not used' "XLA stops at '\\'" --log "$logs/stray_token.log.zst" --xla-flags "--xla_a=1 \\ $flag=/p.pb"
verdict 3 'not used' 'neither in .pb nor in .pbtxt' --log "$logs/wrong_ext.log.zst" --xla-flags "$flag=/p.txt"

# The other runs: found and missing as XLA counts them.
verdict 0 used '456 look-ups found, 41 instructions missing' --log "$data/runs/fsdp_unrolled/log/recompile_jaxlib_profile.log.zst"
verdict 0 used '153 look-ups found, 50 instructions missing' --log "$data/runs/fsdp_scan/log/recompile_jaxlib_profile.log.zst"
verdict 0 used '243 look-ups found, 23 instructions missing' --log "$data/runs/auto_pgle/log/train.log.zst"

# Nothing missing: shown by the other modules' lines, or by HLO and profile, else not shown.
nothing=$slow/log/recompile_scheduling_names.log.zst
verdict 0 used 'jit_train_step: used, nothing missing' --log "$nothing"
zstd -dcq "$nothing" | grep -v profile_guided_latency_estimator.cc >"$work/alone.log"
verdict 3 'not shown' 'xla_gpu_pgle_accuracy_checker=PGLE_STRICTNESS_LEVEL_WARN' --log "$work/alone.log" --module jit_train_step
verdict 0 used 'by --hlo and the profile' --log "$work/alone.log" --module jit_train_step \
  --hlo "$slow/hlo/profiled" --profile "$slow/scheduling_names_profile.pb"

# What is asked for.
verdict 0 used '' --log "$logs/used.log.zst" --min-coverage 89%
verdict 3 'not used' '90.0 % are needed' --log "$logs/used.log.zst" --min-coverage 0.9
verdict 3 'not used' 'jit_init: not used' --log "$logs/used.log.zst" --module 'jit_'

# Packed, piped, several logs.
zstd -dcq "$logs/used.log.zst" >"$work/used.log"
gzip -k "$work/used.log"
verdict 0 used '126 look-ups' --log "$work/used.log.gz"
"$inspect" check --log - <"$work/used.log" >"$work/stdout" || fail "standard input"
verdict 3 'not used' "$logs/missing_file.log.zst" --log "$work/used.log" --log "$logs/missing_file.log.zst"
: >"$work/empty.log"
verdict 3 'not shown' 'no line of XLA' --log "$work/empty.log"

verdict 0 used 'from fdo_profile' --dump-dir "$data/runs/auto_pgle/dump"
mkdir "$work/dump"
cp "$data"/runs/auto_pgle/dump/module_2667.* "$work/dump"
verdict 3 'not shown' 'the client gave no profile' --dump-dir "$work/dump"

shape='{"schema": "=pgle.inspect.check/1", "verdict": "string", "target": "string",
  "min_coverage": "number", "modules": [{"module": "string", "fingerprint": "string", "target": "bool",
  "verdict": "string", "file": "string", "process": "string", "start": "int", "source": "string",
  "found_lookups": "int?", "missing_instructions": "int?", "coverage": "number?", "emulated": "bool",
  "cause": "string", "fix": "string"}], "small_modules": {"names": "int", "compiles": "int",
  "found_lookups": "int", "missing_instructions": "int"}, "flag_findings": [{"kind": "string",
  "id": "string", "cause": "string", "fix": "string"}], "notes": ["string"]}'
for log in "$logs"/*.log.zst; do
  "$inspect" check --json --log "$log" --xla-flags "$flag=/p.txt" >"$work/json" || true
  python3 "$data/cli/json_shape.py" "$work/json" "$shape" || fail "JSON of $log"
done

# Bad calls and bad input.
run 1 "$inspect" check --log "$logs/profile.pb"
one_line_error
complains 'is no log'
run 1 "$inspect" check --log "$work/none.log"
one_line_error
head -c 3000 "$logs/used.log.zst" >"$work/cut.log.zst"
run 1 "$inspect" check --log "$work/cut.log.zst"
one_line_error
run 1 "$inspect" check --dump-dir "$data/runs/aggregate"
one_line_error
run 2 "$inspect" check
run 2 "$inspect" check --log "$work/used.log" --module '('
run 2 "$inspect" check --log "$work/used.log" --min-coverage many
run 2 "$inspect"
finish
