#!/bin/sh
# check_performance.sh - README shows the same as doc/performance.md, the plots
# of that page exist, and the page says what was measured.  bench/compare can
# write such a page, as a whole or in part.
#
# Run by make check; by hand: srcdir=. tests/check_performance.sh
set -u

: "${srcdir=.}"
. "$srcdir/tests/complain.sh"

# short PAGE: the part of the page that README shows.  shown README: what it
# shows.
short() {
	sed -n '/^## In short$/,/^\(!\|## All\)/p' "$1" | sed '1,2d;$d' | sed '$d'
}
shown() {
	sed -n '/^<!-- performance -->$/,/^<!-- end -->$/p' "$1" | sed '1d;$d'
}

# agree README PAGE: both say the same, and show plots that exist.
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

# Exactly the plots that the page may have are distributed.
if [ -x /usr/bin/python3 ]; then
	PYTHONPATH=$srcdir/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c '
import page
print("\n".join("performance-%s.svg" % name for name in sorted(page.PLOTS)))' \
		>"$work/drawn"
	grep -o 'performance-[a-z]*\.svg' "$srcdir/doc/local.mk" | sort |
		diff "$work/drawn" - ||
		complain 'doc/local.mk has other plots (>) than bench/page.py (<)'
fi

# For each library that is missing in a row there is one reason, and there are
# no other reasons.
if [ -x /usr/bin/python3 ]; then
	PYTHONPATH=$srcdir/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - \
		<<-'EOF' || complain 'bench/workloads.py does not say who is missing (<), or others (>)'
		import collections, page, workloads
		missing = collections.Counter(
		    (key, name) for key, *_, styles in workloads.WORKLOADS
		    for name in page.NAMES if name not in styles)
		said = collections.Counter(
		    (key, name) for names, keys, _ in workloads.ABSENT
		    for key in keys.split() for name in names.split())
		for sign, some in ("<", missing - said), (">", said - missing):
		    print("".join("%s %s: %s\n" % (sign, *pair) for pair in some), end="")
		exit(missing != said)
	EOF
fi

# bench/raw_floor.c has, and a test runs, exactly the styles that compare asks
# for; the same for bench/mt_floor.c, the bare library.
named() {
	sed -n "$1" "$srcdir/$2" | sort -u
}
# floor NAME FILE TESTED: the file has the styles that are asked of it, and so
# has the test.
floor() {
	named "s/.*$1=\"\([a-z]*\)\".*/\1/p" bench/workloads.py >"$work/asked"
	[ -s "$work/asked" ] || complain "nothing is asked of $2"
	named 's/^	{ "\([a-z]*\)", [a-z].*/\1/p' "$2" |
		diff "$work/asked" - ||
		complain "$2 has other styles (>) than compare asks for (<)"
	named "$3" tests/tools/test_raw_floor.c | diff "$work/asked" - ||
		complain "test_raw_floor.c runs others (>) of $2 than compare (<)"
}
floor raw bench/raw_floor.c 's/^	{ "\([a-z]*\)", [0-9].*, false },/\1/p'
floor library bench/mt_floor.c 's/^	{ "\([a-z]*\)", [0-9].*, true },/\1/p'

# compare ARGUMENT...: run bench/compare, with the page's own figures or others.
compare() {
	/usr/bin/python3 "$srcdir/bench/compare" "$@"
}

# ours FOLDER: a copy of the page, of the files that belong to it, and of
# README.
ours() {
	mkdir "$1" || exit 1
	cp "$srcdir"/doc/performance* "$srcdir/README.md" "$1"
	chmod u+w "$1"/*
}

# same FOLDER OTHER WHAT: both have the same page and the same README.
same() {
	diff "$1/performance.md" "$2/performance.md" &&
		diff "$1/README.md" "$2/README.md" || complain "$3"
}

# The page is what compare writes from its figures.
if [ -x /usr/bin/python3 ] && command -v gnuplot >/dev/null; then
	ours "$work/ours"
	ours "$work/again"
	compare --from "$srcdir/doc/performance.json" \
		--page "$work/again/performance.md" --readme "$work/again/README.md"
	same "$work/ours" "$work/again" \
		'doc/performance.json makes another page (>), or another table in README'
fi

# What cannot be written is reported before any work, in one line.
if [ -x /usr/bin/python3 ]; then
	echo 'no table' >"$work/bare.md"
	for to in "--json=$work/none/it.json" "--page=$work" \
		"--page=$work/it.md --readme=$work/bare.md"; do
		# shellcheck disable=SC2086 # options
		! compare --from "$srcdir/doc/performance.json" $to \
			>"$work/said" 2>&1 &&
			[ "$(grep -c '^compare: ' "$work/said")" = 1 ] &&
			! grep -q Traceback "$work/said" &&
			[ ! -e "$work/it.md" ] ||
			complain "with $to is said: $(cat "$work/said")"
	done
fi

# A driver that did nothing fails.  A driver that did little is asked for more.
if [ -x /usr/bin/python3 ]; then
	PYTHONPATH=$srcdir/bench PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - \
		<<-'EOF' || complain 'bench/driver.py counts little for much'
		from driver import Driver, Failure
		ask = lambda says: Driver("it", ["/bin/sh", "-c",
		    "read a && echo %s && read a && echo $a" % says], "").ask(
		    lambda ms: "ops=%d us=60" % ms, 3)
		assert ask("ops=19 us=9")["us"] == 2
		assert ask("ops=20 us=9")["us"] == 0.45
		def fails(script):
		    try:
		        Driver("it", ["/bin/sh", "-c", script], "").ask(
		            lambda ms: "", 3, answer_s=1)
		    except Failure:
		        return True
		assert fails("while read a; do echo ops=0 us=9; done")
		# So does a driver with any other answer, or none.
		for says in ("ops=20", "ops=20 us=x", "ops=20 us=9 us", "ops=x us=9",
		             "ops=20 us=nan", "ops=20 us=0", "ops=20 us=-9", "ops=inf us=9",
		             "ops=20 us=9\\nops=20 us=9", "\\0377", "ops=20 us=9\\c"):
		    assert fails("read a; printf '%%b\\n' '%s'; read a" % says), says
		assert fails("exit 0")
		assert fails("read a; tr '\\0' x </dev/zero")
	EOF
fi

# pretended DRIVER: a build folder of Kustos with a fake server, and with this
# script as the driver of locks.
pretended() {
	build=$work/build
	mkdir -p "$build/bench" "$build/bin"
	ln -sf "$(command -v cat)" "$build/bin"
	printf '#!/bin/sh\necho 127.0.0.1:1\ncat >/dev/null\n' >"$build/bench/serve"
	printf '#!/bin/sh\n%s\n' "$1" >"$build/bench/bench_mutex"
	chmod +x "$build/bench/"*
}

# ends CODE PATTERN [ARGUMENT...]: compare exits with this code and this last
# line, on a machine without Java.
ends() {
	wanted=$1
	pattern=$2
	shift 2
	timeout 60 env PATH="$build/bin" /usr/bin/python3 \
		"$srcdir/bench/compare" --build "$build" "$@" >"$work/said" 2>&1
	code=$?
	[ $code = "$wanted" ] && tail -n 1 "$work/said" | grep -q "$pattern" &&
		! grep -q Traceback "$work/said" ||
		complain "with $*: $code, $(cat "$work/said")"
}

if [ -x /usr/bin/python3 ]; then
	pretended 'while read -r a; do echo ops=100 us=9; done'
	ends 0 ' target *library$' --workload fifo --rounds 1
	ends 2 'argument --rounds' --rounds 0
	ends 2 'argument --rounds' --rounds -1
	ends 1 '^compare: .*No space left' --workload fifo --json /dev/full
	pretended 'read -r a; echo ops=100 us=9; read -r a; exit 3'
	ends 1 '^compare: 1 without an answer' --workload fifo --rounds 1
	# The first round is not counted.  It leaves out slow workloads, unless
	# there is nothing else.
	for rows in 'fifo 3' 'line-1000 3' 'fifo --workload line-1000 5'; do
		pretended "while read -r a; do echo >&3; echo ops=100 us=9; done 3>>$work/asked"
		: >"$work/asked"
		# shellcheck disable=SC2086 # options
		ends 0 '' --rounds 2 --workload ${rows% *}
		[ "$(wc -l <"$work/asked")" = "${rows##* }" ] ||
			complain "$rows questions: $(wc -l <"$work/asked")"
	done
	# compare ends its drivers, which wait for nothing, when it is ended
	# itself.  HUP is reset because it may be ignored in these tests.
	mkfifo "$work/alive"
	hearing='import os, signal, sys
for name in ("SIGTERM", "SIGHUP"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])'
	for how in TERM HUP; do
		pretended "read -r a; exec 3>$work/alive; echo asked >&3; exec sleep 100"
		/usr/bin/python3 -c "$hearing" /usr/bin/python3 \
			"$srcdir/bench/compare" --build "$build" \
			--workload fifo >"$work/said" 2>&1 &
		# shellcheck disable=SC2016 # for the inner shell
		timeout 30 sh -c 'exec <"$2"; read -r _ && kill -"$1" "$0" && cat' \
			$! $how "$work/alive" || complain "$how: a driver still runs"
		wait $!
	done
fi

# A short round of a few workloads leaves the rest of the page alone.
if [ ! -x bench/serve ] || [ ! -x /usr/bin/python3 ]; then
	echo 'note: bench/compare was not tried'
	exit $status
fi
ours "$work/part"
page=$work/part/performance.md
timeout 300 /usr/bin/python3 "$srcdir/bench/compare" --quick \
	--workload alone --workload line-2 --workload gate \
	--json "$work/part.json" \
	--page "$page" --readme "$work/part/README.md" >"$work/out" 2>&1
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
agree "$work/part/README.md" "$page"
! cmp -s "$work/part/README.md" "$srcdir/README.md" ||
	complain 'the README was left as it was'
! grep -qF "$work" "$page" || complain 'the page names a folder of ours'
last=$(sed -n 's/^Run \(.\), measured on .*/\1/p' "$page" | tail -n 1)
for row in 'uncontended lock and unlock' '2 waiters, a hand-over' 'barrier: '; do
	grep -q "^| ${row}[^|]* | [0-9].* | 1 of $last |\$" "$page" ||
		complain "the page has no row of $row in this run"
done
! grep -F '| line-2/kustos |' "$page" ||
	complain 'figures of different runs are compared'
kept() {
	sed -n '/^## All/,/^## More/p' "$1" | grep '^| ' | cut -d '|' -f 2
}
kept "$srcdir/doc/performance.md" >"$work/rows"
kept "$page" | diff "$work/rows" - || complain 'rows are gone (<) from the page'
ls "$srcdir"/doc/performance* | sed 's|.*/||' >"$work/files"
(cd "$work/part" && ls performance*) | diff "$work/files" - ||
	complain 'what is distributed is gone (<), or new (>)'
grep '^!' "$srcdir/doc/performance.md" >"$work/plots"
if command -v gnuplot >/dev/null; then
	grep '^!' "$page" | diff "$work/plots" - || complain 'plots are gone (<)'
fi

# Saved figures give the same page.  Of two runs the later one counts.
ours "$work/two"
compare --from "$srcdir/doc/performance.json" --from "$work/part.json" \
	--page "$work/two/performance.md" --readme "$work/two/README.md"
same "$work/part" "$work/two" 'what was saved makes another page (>)'
rm "$work/two/performance.json"
compare --from "$work/part.json" --from "$srcdir/doc/performance.json" \
	--page "$work/two/performance.md" --readme "$work/two/README.md"
ours "$work/old"
same "$work/old" "$work/two" 'an older run counts as well (>)'
for none in '{}' '{"runs": [], "rows": []}'; do
	echo "$none" >"$work/none.json"
	! compare --from "$work/none.json" 2>"$work/said" &&
		[ "$(wc -l <"$work/said")" = 1 ] &&
		grep -q none.json "$work/said" ||
		complain "of a file without figures is said: $(cat "$work/said")"
done
exit $status
