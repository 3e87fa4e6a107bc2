#!/bin/sh
# check_performance.sh - README shows what doc/performance.md says, whose plots are
# there; and bench/compare writes such a page.
#
# Run by make check; by hand: srcdir=. tests/check_performance.sh
set -u

: "${srcdir=.}"
. "$srcdir/tests/complain.sh"

# short PAGE: what of a page README shows; shown README.
short() {
	sed -n '/^## In short$/,/^\(!\|## All\)/p' "$1" | sed '1,2d;$d' | sed '$d'
}
shown() {
	sed -n '/^<!-- performance -->$/,/^<!-- end -->$/p' "$1" | sed '1d;$d'
}

# agree README PAGE: they say the same, and show plots that are there.
agree() {
	short "$2" >"$work/short"
	shown "$1" >"$work/shown"
	[ "$(grep -c '^| [^|]' "$work/short")" -ge 1 ] ||
		complain "$2 has no table"
	diff "$work/short" "$work/shown" ||
		complain "$1 says something else (>) than $2"
	[ "$(grep -c "^## \|^\`\`\`$" "$2")" -ge 6 ] ||
		complain "$2 does not say what was run, and how it went"
	sed -n 's/^!\[.*](\(.*\))$/\1/p' "$2" | while read -r plot; do
		grep -q '</svg>' "$(dirname "$2")/$plot" || echo "$plot"
	done >"$work/missing"
	[ ! -s "$work/missing" ] ||
		complain "$2 shows what is not there: $(cat "$work/missing")"
}

agree "$srcdir/README.md" "$srcdir/doc/performance.md"
for plot in $(sed -n 's/^!\[.*](\(.*\))$/\1/p' "$srcdir/README.md"); do
	[ -e "$srcdir/$plot" ] || complain "README.md shows $plot"
done

# Each plot that there may be is distributed, and no other.
if [ -x /usr/bin/python3 ]; then
	PYTHONPATH=$srcdir/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import page
print("\n".join("performance-%s.svg" % name for name in sorted(page.PLOTS)))' \
		>"$work/drawn"
	grep -o 'performance-[a-z]*\.svg' "$srcdir/doc/local.mk" | sort |
		diff "$work/drawn" - ||
		complain 'doc/local.mk has other plots (>) than bench/page.py (<)'
fi

# Drivers that do little: ops=0 is a failure, and of few more are asked for.
if [ -x /usr/bin/python3 ]; then
	PYTHONPATH=$srcdir/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - \
		<<-'EOF' || complain 'bench/driver.py counts little for much'
		from driver import Driver, Failure
		ask = lambda says: Driver("it", ["/bin/sh", "-c",
		    "read a && echo %s && read a && echo $a" % says], "").ask(
		    lambda ms: "ops=%d us=60" % ms, 3)
		assert ask("ops=19 us=9")["us"] == 2
		assert ask("ops=20 us=9")["us"] == 0.45
		try:
		    Driver("it", ["/bin/sh", "-c", "while read a; do\
		        echo ops=0 us=9; done"], "").ask(lambda ms: "", 3)
		except Failure:
		    exit(0)
		exit("nothing was something")
	EOF
fi

# A short round of little.
if [ ! -x bench/serve ] || [ ! -x /usr/bin/python3 ]; then
	echo 'note: bench/compare was not tried'
	exit $status
fi
cp "$srcdir/README.md" "$work/README.md"
chmod u+w "$work/README.md"
timeout 300 /usr/bin/python3 "$srcdir/bench/compare" --quick \
	--workload alone --workload line-2 --workload gate \
	--json "$work/figures.json" \
	--page "$work/page.md" --readme "$work/README.md" >"$work/out" 2>&1
code=$?
cat "$work/out"
case $code in
0) ;;
77)
	echo 'note: bench/compare was not tried, as there is no server'
	exit $status
	;;
*) complain "bench/compare: exit code $code" ;;
esac
agree "$work/README.md" "$work/page.md"
! cmp -s "$work/README.md" "$srcdir/README.md" ||
	complain 'the README was left as it was'
for row in 'uncontended lock and unlock' '2 waiting, a hand-off' 'barrier: '; do
	grep -q "^| ${row}[^|]* | [0-9]" "$work/page.md" ||
		complain "the page has no row of $row"
done
if command -v gnuplot >/dev/null; then
	grep -q '^!.*(page-line.svg)$' "$work/page.md" ||
		complain 'the page has no plot'
fi
! grep -qF "$work" "$work/page.md" || complain 'the page names a folder of ours'

# What was saved makes the same page, and leaves no plot of another.
echo stale >"$work/page-together.svg"
mv "$work/page.md" "$work/first.md"
/usr/bin/python3 "$srcdir/bench/compare" --from "$work/figures.json" \
	--page "$work/page.md" || complain 'what was saved cannot be read'
diff "$work/first.md" "$work/page.md" || complain 'what was saved is another page'
if command -v gnuplot >/dev/null && [ -e "$work/page-together.svg" ]; then
	complain 'a plot is left that the page does not show'
fi
exit $status
