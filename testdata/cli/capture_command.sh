#!/usr/bin/env bash
# pgle-capture as a prefix of a command: its status, its streams, its arguments, its environment.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/capture_lib.sh"

# The command's own status, or 125 where it succeeded and the capture did not.
run 125 "$capture" -o "$logs" -- true
says 'error: true: no process loaded the recorder; '
nothing_private
run 7 "$capture" -o "$logs" -- sh -c 'exit 7'
says 'no process loaded the recorder'
run 137 "$capture" -o "$logs" -- sh -c 'kill -9 $$'
run 143 "$capture" -o "$logs" -- sh -c 'kill -TERM $$'
run 0 "$capture" -o "$logs" --best-effort -- true
says 'no process loaded the recorder'
run 7 "$capture" -o "$logs" --best-effort -- sh -c 'exit 7'
run 127 "$capture" -o "$logs" -- "$work/nothing there"
says 'error: .*/nothing there: not found$'
one_line_error
nothing_private
: >"$work/data"
run 126 "$capture" -o "$logs" -- "$work/data"
says "error: $work/data: cannot be run: Permission denied"
run 126 "$capture" -o "$logs" --best-effort -- "$work"
run 127 "$capture" --times -- not-a-command-of-this-machine
run 124 "$capture" -o "$logs" --timeout 0.3 -- sleep 60
says 'warning: sleep: ended after 0\.[3-9] s: --timeout'
run 0 "$capture" --best-effort -q -o "$logs" --timeout 60 -- true

# Without a recording, the directory is left as it was.
[ -z "$(ls -A "$logs")" ] || fail "something was left behind: $(ls -A "$logs")"

# Streams and arguments are the command's.
words() { printf '<%s>' "$@"; }
export -f words
status=0
printf 'a\0b' | "$capture" -o "$logs" -- cat >"$work/stdout" 2>/dev/null || status=$?
[ "$status" -eq 125 ] || fail "status $status"
printf 'a\0b' | cmp -s - "$work/stdout" || fail "standard input does not reach the command"
run 125 "$capture" -o "$logs" -- bash -c 'words "$@"; echo said >&2' bash -- 'two words' '' --help '$x' -o
[ "$(cat "$work/stdout")" = '<--><two words><><--help><$x><-o>' ] || fail "arguments: $(cat "$work/stdout")"
says '^said$'
# Its reader sees its end, not the launcher's; its writer too.
"$capture" -q --best-effort -o "$logs" -- bash -c 'exec >&-; sleep 2; rm "$1"' bash "$work/data" 2>/dev/null |
  { read -r || true; [ -e "$work/data" ] || echo late >"$work/late"; }
absent "$work/late"
# Closed streams are closed for the command too, and no message goes into its files.
status=0
"$capture" -o "$logs" -- bash -c '[ ! -e /proc/$$/fd/2 ] || exit 9; exec 2>"$1"; sleep 0.2' \
  bash "$work/file" 2>&- || status=$?
[ "$status" -eq 125 ] || fail "closed standard error: status $status"
! grep -q 'pgle-capture' "$work/file" || fail "a message went into the command's file"
status=0
"$capture" -o "$logs" -- sh -c 'exit 3' >&- 2>&- <&- || status=$?
[ "$status" -eq 3 ] || fail "no stream is open: status $status"

# What the launcher changes for itself is as it was: signals, mask, descriptors.
"$capture" -q --best-effort -o "$logs" -- grep -E '^Sig(Blk|Ign)' /proc/self/status >"$work/inside" 2>/dev/null
grep -E '^Sig(Blk|Ign)' /proc/self/status | diff - "$work/inside" >&2 || fail "signals are not as they were"
(
  trap '' CHLD HUP
  "$capture" -q --best-effort -o "$logs" -- grep -E '^Sig(Blk|Ign)' /proc/self/status >"$work/inside" 2>/dev/null
  grep -E '^Sig(Blk|Ign)' /proc/self/status | diff - "$work/inside" >&2
) || fail "ignored signals are not as they were"
descriptors='import os; print([fd for fd in range(3, 64) if os.path.exists(f"/proc/self/fd/{fd}")])'
run 0 python3 -c "$descriptors"
cp "$work/stdout" "$work/outside"
run 0 "$capture" --best-effort -o "$logs" -- python3 -c "$descriptors"
same "$work/outside" "$work/stdout"

# The environment. The user's XLA flags stay.
export XLA_FLAGS='--xla_gpu_autotune_level=0'
run 125 "$capture" -o "$logs" -- env
prints "CUDA_INJECTION64_PATH=$recorder"
prints "NVTX_INJECTION64_PATH=$recorder"
host=$(uname -n)
grep -qE "^PGLE_CAPTURE_CONTROL=$logs/\.pgle-capture/[0-9_]{19}/${host}_p[0-9]+/control\$" "$work/stdout" ||
  fail "control page: $(grep CONTROL "$work/stdout")"
grep -qE "^XLA_FLAGS=--xla_gpu_autotune_level=0 --xla_dump_to=\"$logs/\.pgle-capture/.*/hlo\" --xla_dump_hlo_as_proto\$" \
  "$work/stdout" || fail "XLA_FLAGS: $(grep XLA_FLAGS "$work/stdout")"
run 125 "$capture" -o "$logs" --no-hlo -- env
prints "XLA_FLAGS=--xla_gpu_autotune_level=0"
! grep -q xla_dump_to "$work/stdout" || fail "--no-hlo dumps"
run 125 "$capture" --times -- env
! grep -q xla_dump_to "$work/stdout" || fail "--times dumps HLO"
grep -q "^PGLE_CAPTURE_CONTROL=${TMPDIR:-/tmp}/pgle-capture-" "$work/stdout" || fail "--times: control page"
run 125 env TMPDIR="$work/none" "$capture" --times -- env
says 'set TMPDIR'
export XLA_FLAGS='--xla_a=1 stray --xla_b=2'
run 125 "$capture" -o "$logs" -- env
says "warning: XLA_FLAGS: XLA reads as far as 'stray'"
grep -q '^XLA_FLAGS=--xla_dump_to=.* --xla_a=1 stray --xla_b=2$' "$work/stdout" || fail "stray token"
unset XLA_FLAGS

# The autotuner's choices.
run 125 "$capture" -o "$logs" --pin-autotune "$work/pin" -- bash -c \
  'f=${XLA_FLAGS##*--xla_gpu_dump_autotune_results_to=}; echo x >"${f%% *}"'
says "load_autotune_results_from=$work/pin/autotune_results.pbtxt"
# Those of an earlier run are none of this one.
run 125 "$capture" -o "$logs" --pin-autotune "$work/pin" -- true
says "warning: $work/pin/autotune_results.pbtxt: is of an earlier run: XLA did not write"
! grep -q load_autotune_results_from "$work/stderr" || fail "an old file is taken for this run's"
rm -r "$work/pin"
run 125 "$capture" --times --pin-autotune "$work/pin" -- true
says "warning: $work/pin/autotune_results.pbtxt: XLA did not write"

# Wrong calls are 125 and start nothing.
wrong() { # wrong PATTERN ARGUMENTS...
  local pattern=$1
  shift
  rm -f "$work/started"
  run 125 "$capture" "$@"
  one_line_error
  says "$pattern"
  absent "$work/started"
}
start=(-- touch "$work/started")
wrong 'nowhere to write the run; give -o LOGDIR' "${start[@]}"
wrong 'no command; give it behind --' -o "$logs"
wrong 'no command' -o "$logs" --
wrong "'?touch'?: stands before --" -o "$logs" touch "$work/started"
wrong '\-\-no-such: no such option' --no-such -o "$logs" "${start[@]}"
wrong "'5' is no range of steps" -o "$logs" --steps 5 "${start[@]}"
wrong "'9:5' holds no step" -o "$logs" --steps 9:5 "${start[@]}"
wrong 'one window only' -o "$logs" --steps 5:9 --profiler-api "${start[@]}"
wrong 'one window only' --times --delay 4 --duration 5 "${start[@]}"
wrong 'no end; give --duration' -o "$logs" --delay 4 "${start[@]}"
wrong "'NOSIG' is no signal" -o "$logs" --on-signal NOSIG "${start[@]}"
wrong "'KILL' has another meaning" -o "$logs" --on-signal KILL "${start[@]}"
wrong "'a/b' is no name" -o "$logs" --run a/b "${start[@]}"
wrong 'missing \)' -o "$logs" --module '(' "${start[@]}"
wrong 'standard output belongs' -o "$logs" --json - "${start[@]}"
wrong 'takes no command' --recover "$logs" "${start[@]}"
wrong 'does not exist' --recover "$work/none"
wrong "'%'" --json 'x%z' -o "$logs" "${start[@]}"
wrong '\-\-timeout' --timeout x -o "$logs" "${start[@]}"
nothing_private
run 0 "$capture" --help
run 0 "$capture" --version
finish
