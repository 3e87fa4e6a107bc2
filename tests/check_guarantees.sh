#!/bin/sh
# check_guarantees.sh - whatever doc/guarantees.md and doc/hazards.md call
# proved has a test.
#
# Each fault in guarantees.md has one row for each recipe.  Each test that a row
# names exists and is run, that is, it is added to a suite.  Each file that a
# hazard names has tests that begin with the hazard's id.  doc/design.md names
# only hazards that are in hazards.md.
#
# Run by make check; by hand: srcdir=. tests/check_guarantees.sh
set -u

: "${srcdir=.}" "${AWK=awk}"
. "$srcdir/tests/complain.sh"

# "FAULT|RECIPE|TESTS" of each row.
$AWK -F ' *[|] *' '/^## / { fault = substr($0, 4) }
	/^[|]/ && $2 != "recipe" && $2 !~ /^-/ {
		print fault "|" $2 "|" $4 }' \
	"$srcdir/doc/guarantees.md" >"$work/rows"

cut -d '|' -f 1 "$work/rows" | sort -u >"$work/faults"
cut -d '|' -f 2 "$work/rows" | sort -u >"$work/recipes"
[ "$(wc -l <"$work/faults")" -ge 8 ] || complain 'hardly any fault was found'
[ "$(wc -l <"$work/recipes")" -ge 12 ] || complain 'hardly any recipe was found'
while read -r fault; do
	while read -r recipe; do
		echo "$fault|$recipe"
	done <"$work/recipes"
done <"$work/faults" | sort >"$work/wanted"
cut -d '|' -f 1,2 "$work/rows" | sort >"$work/found"
diff "$work/wanted" "$work/found" >"$work/diff" ||
	complain "not one row for each fault and recipe (< missing, > too" \
		"many): $(grep '^[<>]' "$work/diff")"

# "PROGRAM:TEST" of each test that exists and is added to a suite, so that its
# name occurs twice in its program; or in faults.c, for the programs that share
# the tests of that file.
(cd "$srcdir/tests" && $AWK '
	FNR == 1 {
		program = FILENAME
		sub(/^\.\//, "", program)
		sub(/\.c$/, "", program)
		sub(/\/test_/, "/", program)
	}
	/faults_add\(t,/ { shares[program] }
	/^START_TEST\(/ { start[program, substr($0, 12, index($0, ")") - 12)] }
	{
		n = split($0, word, /[^A-Za-z0-9_]+/)
		for (i = 1; i <= n; i++)
			if (word[i] ~ /_/)
				count[program, word[i]]++
	}
	END {
		for (pair in start) {
			if (count[pair] < 2)
				continue
			split(pair, of, SUBSEP)
			print of[1] ":" of[2]
			if (of[1] != "integration/faults")
				continue
			for (program in shares)
				print program ":" of[2]
		}
	}' ./*/*.c >"$work/there")
[ "$(wc -l <"$work/there")" -ge 500 ] || complain 'hardly any test was found'

cut -d '|' -f 3 "$work/rows" | tr ',' '\n' | sed 's/^ *//; s/ *$//' |
	sort -u >"$work/named"
[ "$(wc -l <"$work/named")" -ge 80 ] || complain 'hardly any test is named'
sort -u "$work/there" >"$work/tests"
comm -23 "$work/named" "$work/tests" >"$work/missing"
[ ! -s "$work/missing" ] || complain "no such test: $(cat "$work/missing")"

# The files of each hazard.  Tests have the id with two digits: S1 is S01_.
$AWK -F ' *[|] *' '/^[|] [A-Z][0-9]+ / { print $2 "," $(NF - 1) }' \
	"$srcdir/doc/hazards.md" | tr -d ' ' >"$work/hazards"
[ "$(wc -l <"$work/hazards")" -ge 60 ] || complain 'hardly any hazard was found'
twice=$(cut -d , -f 1 "$work/hazards" | sort | uniq -d | tr '\n' ' ')
[ -z "$twice" ] || complain "a hazard has two rows: $twice"
while IFS=, read -r id files; do
	digits=${id#?}
	name=${id%"$digits"}$(printf %02d "$digits")_
	for file in $(echo "$files" | tr ',' ' '); do
		at=$srcdir/tests/$(dirname "$file")
		case $file in
		*.sh) at=$srcdir/tests/$file ;;
		*/test_*) at=$at/$(basename "$file").c ;;
		*) at=$at/test_$(basename "$file").c ;;
		esac
		[ -e "$at" ] || at=$(echo "$at" | sed 's|/test_\([^/]*\)$|/\1|')
		shared=
		! grep -q 'faults_add(t,' "$at" 2>/dev/null ||
			shared=$srcdir/tests/integration/faults.c
		# shellcheck disable=SC2086 # one name, or none
		grep -qsE "\\b([A-Za-z]+_)?([A-Z][0-9]+_)*$name" "$at" $shared ||
			complain "$id: no test of it in $file"
	done
done <"$work/hazards"

# The hazards that doc/design.md refers to.
grep -oE '\b[A-Z][0-9]{1,2}\b' "$srcdir/doc/design.md" | sort -u |
	while read -r id; do
		grep -q "^$id," "$work/hazards" || echo "$id"
	done >"$work/missing"
[ ! -s "$work/missing" ] ||
	complain "doc/design.md names no hazard: $(tr '\n' ' ' <"$work/missing")"

# The converse only gives notes: "ID PROGRAM" of each test that begins with an
# id.
sed 's/^sim\//&test_/' "$work/tests" | $AWK -F : '{
	while ($2 ~ /^[A-Z][0-9][0-9]_/) {
		print substr($2, 1, 1) substr($2, 2, 2) + 0, $1
		$2 = substr($2, 5)
	} }' | grep -v ' integration/faults$' | sort -u >"$work/guards"
while IFS=, read -r id files; do
	echo "$files" | tr ',' '\n' | sed "s/^/$id /"
done <"$work/hazards" | sort -u >"$work/rows_of"
comm -23 "$work/guards" "$work/rows_of" | sed 's/^/note: not in hazards.md: /'

echo "$(wc -l <"$work/rows") promises, $(wc -l <"$work/named") tests"
exit $status
