# Sourced by the whole-command tests. $1: folder of the binaries, $2: testdata.
set -euo pipefail
bin=$1
data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# run STATUS COMMAND...: runs it, keeps its output in $work/stdout and $work/stderr, and checks the
# exit status.
run() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
  [ "$status" -eq "$wanted" ] || {
    fail "status $status, not $wanted: $*"
    sed 's/^/    /' "$work/stderr" >&2
  }
}

# says PATTERN: standard error has a line that matches (extended regular expression).
says() {
  grep -qE -- "$1" "$work/stderr" || {
    fail "standard error lacks: $1"
    sed 's/^/    /' "$work/stderr" >&2
  }
}

# prints TEXT: standard output holds it; complains TEXT: standard error does.
prints() { grep -qF -- "$1" "$work/stdout" || fail "standard output lacks: $1"; }
complains() { grep -qF -- "$1" "$work/stderr" || fail "standard error lacks: $1"; }

# one_line_error: standard error is a single line that starts with "TOOL: error: ".
one_line_error() {
  [ "$(wc -l <"$work/stderr")" -eq 1 ] && grep -qE '^pgle-[a-z]+: error: ' "$work/stderr" || {
    fail "not one line of error"
    sed 's/^/    /' "$work/stderr" >&2
  }
}

same() { cmp -s "$1" "$2" || fail "$1 and $2 differ"; }
absent() { [ ! -e "$1" ] || fail "$1 exists"; }

# tries COMMAND...: what is about time itself may fail twice, on a machine that has too much else to do.
tries() {
  local before=$failures attempt
  for attempt in 1 2; do
    "$@" 2>"$work/tried"
    [ "$failures" -gt "$before" ] || return 0
    failures=$before
  done
  "$@"
}

finish() { [ "$failures" -eq 0 ]; }
