# Sourced by the tests of pgle-capture, after lib.sh. They need no recorder: the launcher asks only
# that its file is there, and launcher_client does on the control page what a recorder does.
mkdir -p "$work/tool/bin" "$work/tool/lib/pgle"
cp "$bin/pgle-capture" "$work/tool/bin"
recorder=$work/tool/lib/pgle/libpgle_recorder.so
: >"$recorder"
capture=$work/tool/bin/pgle-capture
client=$(cd "$bin" && pwd)/launcher_client
logs="$work/my logs"
for variable in SLURM_PROCID SLURM_JOB_ID SLURM_STEP_ID SLURM_NTASKS OMPI_COMM_WORLD_RANK PMIX_RANK \
  PMI_RANK JAX_PROCESS_ID RANK WORLD_SIZE XLA_FLAGS JAX_ENABLE_PGLE CUDA_INJECTION64_PATH \
  NVTX_INJECTION64_PATH NSYS_PROFILING_SESSION_ID NO_COLOR; do
  unset "$variable"
done

# A whole recording: ten steps before the window, five inside, ten behind.
steps="slot loaded spill ready module jit_step run jit_step 10 armed open run jit_step 5 closing \
closed run jit_step 10"

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local tries=$(($1 * 20))
  shift
  while ! "$@" >/dev/null 2>&1; do
    ((tries-- > 0)) || return 1
    sleep 0.05
  done
}
# traces: the run's files, one a line, below the log directory.
traces() { (cd "$logs/plugins/profile" && find . -name '*.xplane.pb*' | sort); }
nothing_private() { absent "$logs/.pgle-capture"; }
