# Sourced, after lib.sh, by the tests that run the recorder in the fake program of testdata/fake_gpu.
fake=$(cd "$bin/../fake_gpu" && pwd)
recorder=$(cd "$bin/.." && pwd)/lib/pgle/libpgle_recorder.so
cupti=$fake/nvidia/cu13/lib/libcupti.so.13
cupti12=$fake/nvidia/cuda_cupti/lib/libcupti.so.12
[ -e "$recorder" ] && [ -e "$cupti" ] || {
  echo "the recorder or the fake CUPTI is not built" >&2
  exit 77
}
# A child that forks from threads is what a test is about: a sanitizer need not stop it.
# Objects of the fake driver live as long as the program does.
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"
export TSAN_OPTIONS="die_after_fork=0 ${TSAN_OPTIONS:-}"

# record STATUS DRIVER_OPTIONS... -- PROGRAM_OPTIONS...: runs fake_xla with the recorder in it, in
# the new folder $run: truth holds what the program did, slots what the recorders said.
# program_prefix: the program runs under this command; truth: instead of the file in $run;
# run_folder: instead of a new one.
run=
program_prefix=()
truth=
run_folder=
record() {
  local attempt
  for attempt in 1 2 3; do
    record_once "$@"
    # On a machine that has too much else to do the recorder may wake up too late for the window.
    grep -aqs 'behind the first one asked for' "$run"/*.pgle || return 0
    [ -z "$run_folder" ] || return 0
  done
  fail "the recorder came late three times: $*"
}

record_once() {
  local wanted=$1 status=0 driver=() program=()
  shift
  while [ "$1" != -- ]; do
    driver+=("$1")
    shift
  done
  shift
  run=${run_folder:-$(mktemp -d "$work/run.XXXX")}
  timeout 120 "$fake/run_recorded" --recorder "$recorder" --directory "$run" "${driver[@]}" -- \
    ${program_prefix[@]+"${program_prefix[@]}"} "$fake/fake_xla" --cupti "$cupti" \
    --truth "${truth:-$run/truth}" "$@" >"$run/slots" 2>"$run/stderr" </dev/null || status=$?
  [ "$status" -eq "$wanted" ] || {
    fail "status $status, not $wanted: ${driver[*]} -- $*"
    sed 's/^/    /' "$run/stderr" >&2
  }
}

# slot KEY VALUE [LINE]: what a recorder said.
slot() {
  sed -n "${3:-1}p" "$run/slots" | grep -qE "\"$1\":\"?$2[\",}]" || {
    fail "no $1 $2: $(sed -n "${3:-1}p" "$run/slots")"
  }
}

# check OPTIONS...: the recording against the truth (check_capture.py); summary: what it printed.
summary=
check() {
  local spill
  spill=$(ls "$run"/*.pgle 2>/dev/null | head -1)
  [ -n "$spill" ] || {
    fail "no spill file"
    return
  }
  summary=$(PYTHONDONTWRITEBYTECODE=1 python3 "$data/fake_gpu/check_capture.py" "$spill" \
    "$run/truth" "$@" 2>"$run/check") || {
    fail "the recording differs from the truth: $*"
    sed 's/^/    /' "$run/check" >&2
  }
}

# summarises KEY LEAST: a number of the summary.
summarises() {
  local value
  value=$(grep -oE "\"$1\": [0-9]+" <<<"$summary" | head -1 | grep -oE '[0-9]+$' || true)
  [ -n "$value" ] && [ "$value" -ge "$2" ] || fail "$1 is ${value:-missing}, not $2 or more"
}

no_spill() {
  [ -z "$(ls "$run"/*.pgle 2>/dev/null)" ] || fail "a spill file exists"
}

# The program has done all that it was to do: it is never stopped by a failed recording.
program_is_whole() {
  local count
  count=$(grep -c '"run":"XlaModule:#prefix=jit_train_step' "$run/truth" || true)
  [ "$count" -ge "$1" ] || fail "the program did $count things, not $1"
}
