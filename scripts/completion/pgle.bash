# bash completion for the pgle tools: source this file, or install it under
# /usr/share/bash-completion/completions/ by the name of each tool.

_pgle_capture() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then # behind it: the command, as the shell completes it
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      elif ((i + 1 == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -- "$cur"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      return
    fi
  done
  case $prev in
    --steps) COMPREPLY=($(compgen -W "auto" -- "$cur")) ;;
    --on-signal) COMPREPLY=($(compgen -W "USR1 USR2 HUP" -- "$cur")) ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")) ;;
    --output | -o | --pin-autotune) COMPREPLY=($(compgen -d -- "$cur")) ;;
    --json | --recover) COMPREPLY=($(compgen -f -- "$cur")) ;;
    --module | --delay | --duration | --run | --timeout | --buffer-size) COMPREPLY=() ;;
    *)
      COMPREPLY=($(compgen -W "--output --steps --module --delay --duration --profiler-api
        --on-signal --run --times --no-hlo --pin-autotune --timeout --buffer-size --compress
        --best-effort --disable-auto-pgle --json --recover --quiet --verbose --color --help
        --version --" -- "$cur"))
      ;;
  esac
}
complete -o filenames -F _pgle_capture pgle-capture

_pgle_extract() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  case $prev in
    --stat) COMPREPLY=($(compgen -W "median mean min max p50 p90" -- "$cur")) ;;
    --collectives) COMPREPLY=($(compgen -W "transfer plain" -- "$cur")) ;;
    --keys) COMPREPLY=($(compgen -W "auto both bare qualified" -- "$cur")) ;;
    --names) COMPREPLY=($(compgen -W "scheduling runtime both" -- "$cur")) ;;
    --async-fusions) COMPREPLY=($(compgen -W "skip cost zero" -- "$cur")) ;;
    --compat) COMPREPLY=($(compgen -W "jaxlib jaxlib-spans" -- "$cur")) ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")) ;;
    --per-module) COMPREPLY=($(compgen -d -- "$cur")) ;;
    --module | --run | --skip-first | --min-coverage | --jobs | -j) COMPREPLY=() ;;
    *)
      if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "--output --stat --collectives --keys --names --async-fusions
          --compat --module --run --hlo --skip-first --min-coverage --strict --per-module --samples
          --json --depfile --jobs --quiet --verbose --color --help --version" -- "$cur"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      ;;
  esac
}
complete -o filenames -F _pgle_extract pgle-extract

_pgle_merge() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  case $prev in
    --keys) COMPREPLY=($(compgen -W "auto both bare qualified" -- "$cur")) ;;
    --failure-mode) COMPREPLY=($(compgen -W "any warn" -- "$cur")) ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")) ;;
    --per-module) COMPREPLY=($(compgen -d -- "$cur")) ;;
    --percentile | -p | --collective-percentile | --expect-processes | --max-spread | --jobs | -j)
      COMPREPLY=() ;;
    *)
      if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "--output --percentile --collective-percentile --samples-out
          --per-module --keys --expect-processes --allow-drift --hlo --max-spread --failure-mode
          --null --json --depfile --jobs --quiet --verbose --color --help --version" -- "$cur"))
      elif [[ $cur == @* ]]; then
        COMPREPLY=($(compgen -P @ -f -- "${cur#@}"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      ;;
  esac
}
complete -o filenames -F _pgle_merge pgle-merge

_pgle_inspect() {
  local cur=${COMP_WORDS[COMP_CWORD]} word verb=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in check | log | flags | coverage | fdo | hosts | show | diff) verb=$word ;; esac
  done
  if [[ -n $verb ]]; then
    _pgle_inspect_verb "$verb"
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "--quiet --verbose --color --help --version" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "check log flags coverage fdo hosts show diff" -- "$cur"))
  fi
}

_pgle_inspect_verb() {
  local cur=${COMP_WORDS[COMP_CWORD]} options
  case $1 in
    check) options="--log --dump-dir --hlo --profile --module --xla-flags --min-coverage" ;;
    log) options="--module" ;;
    flags) options="--hlo" ;;
    coverage) options="--hlo --module --min --strict --trace --run" ;;
    fdo) options="--profile" ;;
    hosts) options="--module" ;;
    show) options="--top" ;;
    diff) options="--fail-over" ;;
  esac
  case ${COMP_WORDS[COMP_CWORD - 1]} in
    --module | --min | --min-coverage | --xla-flags | --run | --top | --fail-over) COMPREPLY=() ;;
    *)
      if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options --json --help" -- "$cur"))
      else
        COMPREPLY=($(compgen -f -- "$cur"))
      fi
      ;;
  esac
}
complete -o filenames -F _pgle_inspect pgle-inspect
