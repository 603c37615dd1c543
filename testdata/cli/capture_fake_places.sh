#!/usr/bin/env bash
# Where room is lacking or is taken away while the program trains: the recording suffers, the
# program never does.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"
capture=$bin/pgle-capture
[ -x "$capture" ] || {
  echo "pgle-capture is not built" >&2
  exit 77
}
for variable in SLURM_PROCID OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK JAX_PROCESS_ID RANK XLA_FLAGS \
  JAX_ENABLE_PGLE CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH; do
  unset "$variable"
done
logs=$work/logs
program=("$fake/fake_xla" --cupti "$cupti" --truth "$work/truth" --step-ms 5)
steps() { grep -c '"run":"XlaModule:#prefix=jit_train_step' "$work/truth" || true; }

# Little address space: tables of ours would take it from the program. (A sanitizer needs it all.)
if ! ldd "$fake/fake_xla" | grep -qE 'lib[at]san'; then
  rm -f "$work/truth"
  run 125 "$capture" -o "$logs" --steps 10:15 -- \
    bash -c 'ulimit -v 2000000; exec "$@"' bash "${program[@]}" --steps 30
  says 'process [0-9]+: no memory for records .*ulimit -v'
  [ "$(steps)" -ge 1000 ] || fail "the program was stopped by $(steps)"
fi

# More processes than slots: those beyond train without a recorder.
cat >"$work/many" <<'END'
#!/bin/bash
for i in {1..70}; do "$@" & done
status=0
for job in $(jobs -p); do wait "$job" || status=9; done
exit $status
END
chmod +x "$work/many"
run 0 "$capture" -o "$logs" --run many --delay 0 --duration 1 -- \
  "$work/many" "$fake/fake_xla" --cupti "$cupti" --truth /dev/null --step-ms 50 --steps 60
says '6 processes more than the 64 that can be recorded'

# The control page is cut, as when its file system goes away: neither the program nor the launcher
# may touch it then. What the program recorded is converted all the same.
rm -f "$work/truth"
"$capture" -o "$logs" --run cut --steps 100:105 -- "${program[@]}" --steps 200 2>"$work/stderr" \
  </dev/null &
launcher=$!
for ((i = 0; i < 100; ++i)); do
  [ -z "$(find "$logs/.pgle-capture/cut" -name "*.pgle" 2>/dev/null)" ] || break
  sleep 0.05
done
sleep 0.2
find "$logs/.pgle-capture/cut" -name control -exec truncate -s 0 {} +
status=0
wait "$launcher" || status=$?
[ "$status" -eq 0 ] || fail "status $status with the control page cut"
says 'control: was cut or taken away while the command ran'
[ "$(find "$logs/plugins/profile/cut" -name '*.xplane.pb' | wc -l)" -eq 1 ] || fail "no trace"

# A disk with room for the directories alone, and one that has none for a process.
for free in 0 4 16; do
  cat >"$work/full" <<'END'
#!/bin/bash
mount -t tmpfs -o size=600k none "$1" && head -c $((600 - $2))k /dev/zero >"$1/fill" || exit 77
shift 2
exec "$@"
END
  chmod +x "$work/full"
  mkdir -p "$work/small"
  unshare -rm mount -t tmpfs none "$work/small" 2>/dev/null || continue
  rm -f "$work/truth"
  run 125 unshare -rm "$work/full" "$work/small" "$free" \
    "$capture" -o "$work/small" --steps 10:15 -- "${program[@]}" --steps 30
  says 'No space left on device'
  [ "$free" -eq 0 ] || [ "$(steps)" -ge 1000 ] || fail "the program was stopped by $(steps)"
done

finish
