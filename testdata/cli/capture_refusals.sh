#!/usr/bin/env bash
# What is known to spoil a recording is refused before the command is started.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/capture_lib.sh"

refused() { # refused PATTERN NAME=VALUE...: one line, nothing started, 125; --best-effort runs it
  local pattern=$1
  shift
  rm -rf "$work/started"
  run 125 env "$@" "$capture" -o "$logs" -- touch "$work/started"
  one_line_error
  says "$pattern"
  absent "$work/started"
  run 6 env "$@" "$capture" -o "$logs" --best-effort -- sh -c 'env >"$1"; exit 6' sh "$work/started"
  says 'warning: .*the command runs without capture'
  [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "the refusal is told twice"
  ! grep -q PGLE_CAPTURE_CONTROL "$work/started" || fail "the command runs with capture"
  nothing_private
}
refused 'CUDA_INJECTION64_PATH: is already set, for nsys: .*libToolsInjection64.so; ' \
  CUDA_INJECTION64_PATH=/opt/nvidia/nsight-systems/2025.1/target-linux-x64/libToolsInjection64.so
refused 'for ncu: ' CUDA_INJECTION64_PATH=/opt/nvidia/nsight-compute/2025.1/libcuda-injection.so
refused 'for compute-sanitizer: ' CUDA_INJECTION64_PATH=/cs/libsanitizer-collection.so
refused 'NVTX_INJECTION64_PATH: is already set, for another pgle-capture: ' NVTX_INJECTION64_PATH="$recorder"
refused 'for CUPTI, as some container images set it: .*unset NVTX_INJECTION64_PATH' \
  NVTX_INJECTION64_PATH=/usr/local/cuda/lib64/libcupti.so
refused 'for another tool: /x.so' NVTX_INJECTION64_PATH=/x.so
refused 'this runs under nsys' NSYS_PROFILING_SESSION_ID=7
refused 'JAX_ENABLE_PGLE: is true: .*--disable-auto-pgle' JAX_ENABLE_PGLE=true
run 125 env JAX_ENABLE_PGLE=off "$capture" -o "$logs" -- env
prints JAX_ENABLE_PGLE=off
run 125 env JAX_ENABLE_PGLE=1 "$capture" -o "$logs" --disable-auto-pgle -- env
prints JAX_ENABLE_PGLE=false
run 125 env CUDA_INJECTION64_PATH= NVTX_INJECTION64_PATH= "$capture" -o "$logs" -- env
says 'no process loaded the recorder'

# No recorder, no place.
rm "$recorder"
refused "$recorder: the recorder cannot be read: No such file or directory; " A=b
: >"$recorder"
: >"$work/file"
logs=$work/file/logs refused "$work/file/logs: cannot be written: Not a directory" A=b
if [ "$(id -u)" -ne 0 ]; then
  mkdir "$work/locked"
  chmod 555 "$work/locked"
  logs=$work/locked refused "$work/locked: cannot be written: Permission denied" A=b
fi
long=$(printf '%0250d' 0)
logs=$work/$long/$long/$long/$long refused 'the path is too long' A=b

# The run of this host and rank is there already.
run 0 "$capture" -o "$logs" --run once -- "$client" $steps end
refused_run() {
  run 125 "$capture" -o "$logs" --run once -- touch "$work/again"
  says 'plugins/profile/once: already holds a trace of this host and rank, .*; give another --run NAME'
  absent "$work/again"
}
refused_run
[ "$(traces | wc -l)" -eq 1 ] || fail "the run was touched"

# A launcher of ranks as the command.
printf '#!/bin/sh\nexec "$@"\n' >"$work/mpirun"
chmod +x "$work/mpirun"
run 125 "$capture" -o "$logs" -- "$work/mpirun" true
says 'warning: .*starts ranks.*mpirun pgle-capture -o LOGDIR -- COMMAND'

# What cannot be meant, and what would be noticed after hours of training only.
wrong() { # wrong PATTERN ARGUMENTS...: one line, 125, nothing started
  local pattern=$1
  shift
  rm -f "$work/started"
  run 125 "$capture" -o "$logs" "$@" -- touch "$work/started"
  one_line_error
  says "$pattern"
  absent "$work/started"
}
wrong '--json: the name is empty; name a file' --json ''
wrong '--json: .* is a directory; name a file' --json "$work"
wrong '/proc/none/x.json: cannot be written: .*; give another file with --json' \
  --json /proc/none/x.json
wrong '--timeout: nan is no time in seconds; ' --timeout nan
wrong '--run: the name is too long; give a shorter one' --run "$(printf 'a%.0s' {1..300})"
run 125 "$capture" --json "$work/new/folder/x.json" -o "$logs" -- true
[ -s "$work/new/folder/x.json" ] || fail "the report's folder was not made"

# Recordings that are none.
lost() { # lost PATTERN PATH: and nothing is left behind
  run 125 timeout 20 "$capture" -o "$work/lost" --recover "$2"
  one_line_error
  says "$1"
  absent "$work/lost/plugins"
}
lost '--recover: the path is empty; ' ''
lost '/dev/zero: is no file of records; ' /dev/zero
: >"$work/empty.pgle"
lost 'empty.pgle: not a recording: .*; ' "$work/empty.pgle"
mkdir -p "$work/left/.pgle-capture/run/host_p1"
mkfifo "$work/left/.pgle-capture/run/host_p1/p1.pgle"
lost 'holds no spill file' "$work/left/.pgle-capture/run/host_p1"
finish
