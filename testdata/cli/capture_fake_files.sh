#!/usr/bin/env bash
# Folders and disks that the recorder writes to, and environments that it is started in.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/fake_lib.sh"

# A path with blanks, of the folder and of the recorder itself.
run_folder="$work/a folder, with blanks"
mkdir "$run_folder"
cp "$recorder" "$run_folder/lib recorder.so"
recorder="$run_folder/lib recorder.so" record 0 --steps 30:40 -- --steps 80 --step-ms 4 --graphs
slot state 6
check --window 30:40
run_folder=

# A file that may not grow: the recording fails, the program does not, though the signal that the
# kernel sends would end it.
truth=/dev/null
program_prefix=(bash -c 'ulimit -f 60; exec "$@"' bash)
record 0 --steps 30:80 -- --steps 120 --step-ms 4
slot state 7
slot fault 6
slot code 27 # EFBIG
slot text '[^"]*pgle[^"]*'
program_prefix=()

# A full disk.
mkdir "$work/small"
if unshare -rm mount -t tmpfs -o size=64k none "$work/small" 2>/dev/null; then
  cat >"$work/full" <<'END'
#!/bin/sh
mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"
END
  chmod +x "$work/full"
  program_prefix=(unshare -rm "$work/full" "$work/small")
  record 0 --spill-directory "$work/small" --steps 30:80 -- --steps 120 --step-ms 4
  slot state 7
  slot fault 6
  slot code 28 # ENOSPC
  program_prefix=()
fi
truth=

# No folder to write to, and one that may not be written to (root may).
record 0 --spill-directory "$work/nowhere" --steps 30:40 -- --steps 80 --step-ms 4
slot state 7
slot fault 6
slot code 2 # ENOENT
program_is_whole 2800
if [ "$(id -u)" -ne 0 ]; then
  mkdir -m 555 "$work/readonly"
  record 0 --spill-directory "$work/readonly" --steps 30:40 -- --steps 80 --step-ms 4
  slot state 7
  slot fault 6
  slot code 13 # EACCES
fi

# A child with an empty environment: nobody loads the recorder, and nothing is written.
program_prefix=(env -i)
record 0 --steps 30:40 -- --steps 40 --step-ms 1
[ ! -s "$run/slots" ] || fail "a recorder reported: $(cat "$run/slots")"
no_spill
program_is_whole 1400

# No page, or none that it can read: the recorder keeps quiet.
for control in /nonexistent /dev/null "$work/small" "$recorder"; do
  CUDA_INJECTION64_PATH=$recorder NVTX_INJECTION64_PATH=$recorder PGLE_CAPTURE_CONTROL=$control \
    run 0 "$fake/fake_xla" --cupti "$cupti" --steps 5
  [ "$(wc -l <"$work/stdout")" -gt 100 ] && [ ! -s "$work/stderr" ] || fail "with the page $control"
done
env -u PGLE_CAPTURE_CONTROL CUDA_INJECTION64_PATH="$recorder" NVTX_INJECTION64_PATH="$recorder" \
  "$fake/fake_xla" --cupti "$cupti" --steps 5 >"$work/stdout" || fail "without a page"

finish
