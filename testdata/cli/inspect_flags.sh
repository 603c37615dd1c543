#!/usr/bin/env bash
# pgle-inspect flags: XLA's parser, exit statuses, JSON.
. "$(dirname "$0")/lib.sh"
inspect=$bin/pgle-inspect
flag=--xla_gpu_pgle_profile_file_or_directory_path
profile=$data/runs/logs/profile.pb
unset XLA_FLAGS JAX_ENABLE_PGLE JAX_PGLE_PROFILING_RUNS JAX_COMPILATION_CACHE_DIR
unset JAX_COMPILATION_CACHE_EXPECT_PGLE
export TF_CPP_MIN_LOG_LEVEL=0

run 0 "$inspect" flags "$flag=$profile"
prints "XLA would read a profile: $profile"
XLA_FLAGS="--xla_a=1 $flag=$profile" run 0 "$inspect" flags
prints "effective flags: 2"
run 3 "$inspect" flags
prints 'no profile is asked for'
run 3 "$inspect" flags "--xla_a=1 \\ $flag=$profile"
prints "XLA stops at '\\'"
run 3 "$inspect" flags "$flag=gs://bucket/p.pb"
prints 'is remote'
cp "$profile" "$work/p.txt"
run 3 "$inspect" flags "$flag=$work/p.txt"
prints 'neither in .pb nor in .pbtxt'
run 3 "$inspect" flags "$flag=$work/none.pb"
prints "$work/none.pb does not exist"
mkdir "$work/dir"
run 3 "$inspect" flags "$flag=$work/dir"
prints 'holds no <fingerprint>.pb'

# The fingerprint of the module decides about a directory.
run 0 "$inspect" flags "$flag=$profile" --hlo "$data/runs/logs/hlo"
run 3 "$inspect" flags "$flag=$data/runs/logs/foreign_profile.pb" --hlo "$data/runs/logs/hlo"
prints 'carries the fingerprint of another module'
cp "$profile" "$work/dir/0123456789abcdef0123456789abcdef.pb"
run 0 "$inspect" flags "$flag=$work/dir"
run 3 "$inspect" flags "$flag=$work/dir" --hlo "$data/runs/logs/hlo"
: >"$work/dir/0123456789abcdef0123456789abcdef.pbtxt"
run 3 "$inspect" flags "$flag=$work/dir"
prints 'ignores the .pb beside it'

# A value that names a file.
echo "$flag=$profile" >"$work/flags"
run 0 "$inspect" flags "$work/flags"
prints "read from the file $work/flags"
run 1 "$inspect" flags "$work/nosuch"
one_line_error

TF_CPP_MIN_LOG_LEVEL=3 run 0 "$inspect" flags "$flag=$profile"
prints 'hidden: TF_CPP_MIN_LOG_LEVEL=3'
JAX_ENABLE_PGLE=true run 3 "$inspect" flags "$flag=$profile"
prints "JAX's own profile goes before the path"
JAX_ENABLE_PGLE=yes run 0 "$inspect" flags ''
prints 'from JAX (fdo_profile)'

run 3 "$inspect" flags --json "--xla_a x $flag=$profile"
python3 "$data/cli/json_shape.py" "$work/stdout" '{"schema": "=pgle.inspect.flags/1", "file": "string",
  "flags": [{"name": "string", "value": "string?"}], "stopped_at": "=x", "dropped": "string",
  "profile_path": "string", "auto_pgle": "bool", "profile_would_be_used": "bool",
  "findings": [{"kind": "string", "id": "string", "cause": "string", "fix": "string"}]}' || fail JSON
finish
