#!/usr/bin/env bash
# --help, the man page and the bash completion name the same options; man pages are clean; help fits
# a screen.
. "$(dirname "$0")/lib.sh"
root=$data/..

for tool in "$bin"/pgle-*; do
  name=$(basename "$tool")
  [[ $name =~ ^pgle-[a-z]+$ ]] || continue
  man=$root/man/$name.1
  [ -f "$man" ] || { fail "$name has no man page"; continue; }
  "$tool" --help >"$work/help" || fail "$name --help"
  [ "$(wc -l <"$work/help")" -le 50 ] || fail "$name --help does not fit a screen"
  grep -q '^Examples:' "$work/help" || fail "$name --help has no examples"
  sed -n '/^Options:/,/^Examples:/p' "$work/help" | grep -oE -- '--[a-z][a-z-]+' | sort -u >"$work/options"
  mandoc -Tascii "$man" | sed $'s/.\b//g' >"$work/man"
  for option in $(cat "$work/options"); do
    grep -qF -- "$option" "$work/man" || fail "$name(1) lacks $option"
    grep -qE -- "$option([ \"]|$)" "$root/scripts/completion/pgle.bash" ||
      fail "the completion lacks $option of $name"
  done
  # And nothing that does not exist.
  function=_${name//-/_}
  sed -n "/^$function()/,/^}/p" "$root/scripts/completion/pgle.bash" |
    grep -oE -- '--[a-z][a-z-]+' | sort -u >"$work/completed"
  comm -13 "$work/options" "$work/completed" >"$work/unknown"
  [ ! -s "$work/unknown" ] || fail "the completion of $name knows $(tr '\n' ' ' <"$work/unknown")"
done

# The verbs of pgle-inspect: their options in the man page and the completion, an example each.
mandoc -Tascii "$root/man/pgle-inspect.1" | sed $'s/.\b//g' >"$work/man"
sed -n '/^_pgle_inspect_verb()/,/^}/p' "$root/scripts/completion/pgle.bash" >"$work/completion"
for verb in $("$bin/pgle-inspect" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
  "$bin/pgle-inspect" "$verb" --help >"$work/help" || fail "$verb --help"
  grep -q '^Example:' "$work/help" || fail "$verb --help has no example"
  grep -qE "^ +pgle-inspect $verb" "$work/man" || fail "pgle-inspect(1) has no example of $verb"
  line=$(grep -E "^ +$verb\)" "$work/completion") || fail "the completion lacks $verb"
  for option in $(sed -n '/^Options:/,/^Example:/p' "$work/help" | grep -oE '^ +(-h,)?--[a-z][a-z-]+' | grep -oE -- '--.*'); do
    grep -qF -- "$option" "$work/man" || fail "pgle-inspect(1) lacks $option of $verb"
    grep -qE -- "$option([ \"]|$)" <<<"$line --json --help" || fail "the completion lacks $option of $verb"
  done
done

for page in "$root"/man/*.[15]; do
  mandoc -Tlint -W warning "$page" >"$work/lint" 2>&1 || { fail "$(basename "$page")"; cat "$work/lint" >&2; }
done
bash -n "$root/scripts/completion/pgle.bash" || fail "the completion is no bash"
finish
