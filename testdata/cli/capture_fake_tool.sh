#!/usr/bin/env bash
# pgle-capture as a whole, on the fake program: from the command to the run directory, which holds
# what the program did in the window, no more and no less.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"
capture=$bin/pgle-capture
[ -x "$capture" ] || {
  echo "pgle-capture is not built" >&2
  exit 77
}
program=("$fake/fake_xla" --cupti "$cupti" --truth "$work/truth")
logs="$work/my logs"
for variable in SLURM_PROCID SLURM_JOB_ID OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK JAX_PROCESS_ID RANK \
  XLA_FLAGS JAX_ENABLE_PGLE CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH; do
  unset "$variable"
done

# traces RUN: its files.
traces() { find "$logs/plugins/profile/$1" -name '*.xplane.pb' 2>/dev/null | sort; }
# holds RUN FIRST:LAST: the one trace of the run has the steps of the program.
holds() {
  [ "$(traces "$1" | wc -l)" -eq 1 ] || {
    fail "traces of $1: $(traces "$1")"
    return
  }
  PYTHONDONTWRITEBYTECODE=1 python3 "$data/fake_gpu/check_xspace.py" "$(traces "$1")" \
    "$work/truth" "$2" >"$work/check" 2>&1 || {
    fail "the run $1 differs from the truth"
    sed 's/^/    /' "$work/check" >&2
  }
}
# capture RUN STATUS ARGUMENTS...: again where a busy machine let the recorder come late.
capture() {
  local name=$1 wanted=$2 attempt
  shift 2
  for attempt in 1 2 3; do
    rm -rf "$work/truth" "$logs/plugins/profile/$name"
    run "$wanted" "$capture" -o "$logs" --run "$name" "$@"
    grep -q 'behind the first one asked for' "$work/stderr" || return 0
  done
}

# Plain launches and command buffers, CUPTI 13 and 12.
capture plain 0 --steps 50:60 -- "${program[@]}" --steps 100 --step-ms 5
holds plain 50:60
says '^next: pgle-extract '
capture graphs 0 --steps 50:60 -- \
  "${program[@]}" --steps 100 --step-ms 5 --graphs
holds graphs 50:60
says '180 in command buffers'
says 'dropped +nothing'
capture old 0 --steps 50:60 -- \
  "$fake/fake_xla" --cupti "$cupti12" --truth "$work/truth" --steps 100 --step-ms 5 --graphs
holds old 50:60

# Steps of a module by name.
capture module 0 --steps 30:40 --module 'train_st.p$' -- \
  "${program[@]}" --steps 100 --step-ms 5
holds module 30:40

# A program that forks and ends by _exit; one that starts another.
capture fork 0 --steps 30:40 -- \
  "${program[@]}" --steps 150 --step-ms 5 --fork-at 35 --hard-exit
holds fork 30:40
capture spawn 0 --steps 30:40 -- \
  "${program[@]}" --steps 100 --step-ms 5 --spawn 1
[ "$(traces spawn | wc -l)" -eq 2 ] || fail "traces of two processes: $(traces spawn)"

# What CUPTI loses is said.
FAKE_CUPTI_DROP=50 capture dropped 0 --steps 30:40 -- \
  "${program[@]}" --steps 100 --step-ms 5
says 'dropped +50 '

# A failed capture: the program runs to its end, then the status is 125, or the command's own.
FAKE_CUPTI_SUBSCRIBE=39 capture taken 125 -- "${program[@]}" --steps 20
says 'error 39'
program_truth=$(grep -c '"run":"XlaModule:#prefix=jit_train_step' "$work/truth")
[ "$program_truth" -ge 700 ] || fail "the program was stopped"
FAKE_CUPTI_SUBSCRIBE=39 capture taken 0 --best-effort -- \
  "${program[@]}" --steps 20
FAKE_CUPTI_SUBSCRIBE=35 capture taken 125 -- "${program[@]}" --steps 20
FAKE_CUPTI_VERSION=140000 capture taken 125 -- "${program[@]}" --steps 20
says '14'
FAKE_CUPTI_LAYOUT=shifted capture taken 125 --steps 30:40 -- \
  "${program[@]}" --steps 80 --step-ms 5
capture taken 125 -- env -i "${program[@]}" --steps 20
[ -z "$(traces taken)" ] || fail "failed captures left $(traces taken)"

# Times alone.
run 0 "$capture" --times --json "$work/times.json" -- "${program[@]}" --steps 60 --step-ms 5
python3 - "$work/times.json" <<'END' || fail "the times"
import json, sys
modules = json.load(open(sys.argv[1]))["processes"][0]["modules"]
step = next(module for module in modules if module["module"] == "jit_train_step")
assert step["executions"] == 60 and step["devices"] == 2, step
END

finish
