#!/usr/bin/env bash
# Profiles: jaxlib's results, order, formats, lists, directories, outputs.
. "$(dirname "$0")/lib.sh"
merge=$bin/pgle-merge
in=$data/runs/aggregate

# jaxlib's entries come in no order: as text, one entry a line, sorted.
entries() {
  "$merge" -q -p 0 "$1" -o "$work/entries.pbtxt" 2>/dev/null
  tr -d '\n' <"$work/entries.pbtxt" | sed 's/}/}\n/g' | sort
}

for percentile in 0 50 85 90 100; do
  run 0 "$merge" -p "$percentile" "$in"/in{0,1,2}.pb -o "$work/p$percentile.pb"
  cmp -s <(entries "$work/p$percentile.pb") <(entries "$in/jaxlib_p$percentile.pb") ||
    fail "percentile $percentile differs from jaxlib"
done
run 0 "$merge" "$in"/in{2,0,1}.pb -o "$work/default.pb"
same "$work/default.pb" "$work/p90.pb"
says 'drift: not checked'
says '^wrote .*default.pb: 284 costs, keys bare, p90, sha256 [0-9a-f]{64}$'

# Text, packed, from lists and from a directory: the same bytes.
mkdir "$work/in"
"$merge" -q -p 0 "$in/in0.pb" -o "$work/in/in0.pbtxt" 2>/dev/null
zstd -q "$in/in1.pb" -o "$work/in/in1.pb.zst"
gzip -c "$in/in2.pb" >"$work/in/in2.pb.gz"
: >"$work/in/readme.txt"
: >"$work/in/trace.xplane.pb"
run 0 "$merge" "$work/in" -o "$work/out.pb" -j 8
same "$work/out.pb" "$work/p90.pb"
printf '%s\n' "$in"/in{0,1,2}.pb >"$work/list"
run 0 "$merge" "@$work/list" -o "$work/out.pb" -j 1
same "$work/out.pb" "$work/p90.pb"
for stdin in - @-; do
  "$merge" -q $stdin -o "$work/out.pb" <"$work/list" 2>/dev/null || fail "$stdin"
  same "$work/out.pb" "$work/p90.pb"
done
find "$in" -name 'in?.pb' -print0 | "$merge" -q -0 - -o "$work/out.pb" 2>/dev/null || fail "-0"
same "$work/out.pb" "$work/p90.pb"
"$merge" -q "$in"/in?.pb -o - 2>/dev/null >"$work/stdout.pb" || fail "-o -"
same "$work/stdout.pb" "$work/p90.pb"

# The JSON report carries the checksum that every host can compare.
run 0 "$merge" -q "$in"/in?.pb -o "$work/out.pb" --json "$work/out.json" --depfile "$work/out.d"
head -2 "$work/out.json" | grep -q '"schema": "pgle.merge.report/1"' || fail "schema"
grep -q "\"sha256\": \"$(sha256sum "$work/out.pb" | cut -d' ' -f1)\"" "$work/out.json" ||
  fail "the JSON report has another sha256"
grep -q 'in2.pb' "$work/out.d" || fail "the depfile lacks an input"

# Qualified names, one file a module.
sed 's/name: "/name: "0123456789abcdef0123456789abcdef::/' "$work/in/in0.pbtxt" >"$work/q.pbtxt"
run 0 "$merge" "$work/q.pbtxt" "$work/in/in0.pbtxt" -o "$work/both.pbtxt" --per-module "$work/modules"
[ -s "$work/modules/0123456789abcdef0123456789abcdef.pb" ] || fail "no per-module file"
awk '/::/ { seen = 1 } /name/ && !/::/ && seen { exit 1 }' "$work/both.pbtxt" ||
  fail "a bare entry follows a qualified one"
: >"$work/modules/0123456789abcdef0123456789abcdef.pbtxt"
rm "$work/both.pbtxt"
run 3 "$merge" -q "$work/q.pbtxt" -o "$work/both.pbtxt" --per-module "$work/modules"
says 'XLA would read this file instead'
absent "$work/both.pbtxt"
run 1 "$merge" -q "$in/in0.pb" --per-module "$work/none"
says 'no cost carries a fingerprint'
finish
