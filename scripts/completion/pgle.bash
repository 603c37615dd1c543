# bash completion for the pgle tools: source this file, or install it under
# /usr/share/bash-completion/completions/ by the name of each tool.

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
