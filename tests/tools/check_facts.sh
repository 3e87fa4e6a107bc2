#!/bin/sh
# check_facts.sh - kustos(1) agrees with the sources.  For each subcommand it
# has exactly the names that --json prints and the columns of --csv.  Its
# figures, limits and defaults, are those of the sources.
#
# Run by make check; by hand: srcdir=. tests/tools/check_facts.sh
set -u

: "${srcdir=.}" "${AWK=awk}"
page=$srcdir/doc/man/kustos.1
. "$srcdir/tests/complain.sh"

# --- Names -------------------------------------------------------------------

# printed FILE: the names in the strings of the source, or given to a function
# that prints one.  For percentiles the names are made as in figures.c.
printed() {
	tr '\n\t' '  ' <"$1" | grep -oE '\\"[a-z_]+\\":' | tr -d '\\":'
	tr '\n\t' '  ' <"$1" | grep -oE '[a-z_]+\(out, *"[a-z_]+"' |
		sed 's/.*"\(.*\)"/\1/'
	grep -q figures_percents "$1" || return
	sed -n '/^const double figures_percents/s/.*{\(.*\)}.*/\1/p' \
		"$srcdir/bench/figures.c" | tr -d ' ' | tr ',' '\n' |
		sed 's/^100$/max/; s/^[0-9]/p&/'
}

# described SUBCOMMAND OPTION: the names that the page has for that.
described() {
	$AWK -v section="kustos $1" -v option="-$2" '
		/^\.Ss/ { inside = substr($0, 5) == section; here = 0 }
		/^\.It|^\.El/ { here = inside && $2 == "Fl" && $3 == option }
		here && /^\.(Dq|Va) / {
			for (i = 2; i <= NF; i++)
				if ($i ~ /[a-z]/)
					print $i
		}' "$page"
}

names() {
	printed "$srcdir/$2" | sort -u >"$work/printed"
	described "$1" json | sort -u >"$work/described"
	[ -s "$work/printed" ] || complain "$2 prints no name"
	diff "$work/printed" "$work/described" >"$work/diff" ||
		complain "names of 'kustos $1 --json' (< $2 only, > page only):" \
			"$(grep '^[<>]' "$work/diff" | tr '\n' ' ')"
	echo "$srcdir/$2" >>"$work/known"
}

names bench bench/report_json.c
names break tools/cmd_break.c
names elect tools/elect_watch.c
names latch tools/cmd_latch.c
names ls tools/show.c
names queue tools/queue_ls.c
names server tools/cmd_server.c
names top tools/top_show.c

# The order of columns matters.
sed -n '/^void report_csv_heading/,/^}/p' "$srcdir/bench/report_csv.c" |
	grep -o '"[^"]*"' | tr -d '"\n' | sed 's/\\n//' | tr ',' '\n' \
	>"$work/columns"
echo >>"$work/columns"
described bench csv >"$work/described"
diff "$work/columns" "$work/described" >"$work/diff" ||
	complain "columns of 'kustos bench --csv' (< it, > page):" \
		"$(grep '^[<>]' "$work/diff" | tr '\n' ' ')"

sort "$work/known" >"$work/all"
grep -l '\\":' "$srcdir"/tools/*.c "$srcdir"/bench/*.c | sort |
	comm -13 "$work/all" - >"$work/unknown"
[ ! -s "$work/unknown" ] ||
	complain "prints names that nothing compares: $(cat "$work/unknown")"

# --- Figures -----------------------------------------------------------------

# The text of the page as one line; and the part that was not yet compared.
sed -n '/^\.Sh DESC/,/^\.Sh ENV/p' "$page" | grep -v '^\.' | tr '\n' ' ' \
	>"$work/text"
cp "$work/text" "$work/left"

# figure FILE BEFORE DIVISOR SENTENCE: the number behind BEFORE in the file,
# divided, is what the page has in SENTENCE in place of @.
figure() {
	tr -s '\t' ' ' <"$srcdir/$1" | $AWK -v before="$2" -v by="$3" '
		i = index($0, before) {
			rest = substr($0, i + length(before))
			if (rest ~ /^ *[0-9]/) {
				printf "%.10g\n", rest / by
			}
		}' >"$work/value"
	[ "$(wc -l <"$work/value")" = 1 ] ||
		complain "$1 has not one number behind '$2'"
	sentence=$(echo "$4" | sed "s|@|$(head -n 1 "$work/value")|")
	grep -qF "$sentence" "$work/text" ||
		complain "$1 ($2): the page does not say '$sentence'"
	$AWK -v sentence="$sentence" '{
		i = index($0, sentence)
		print i ? substr($0, 1, i - 1) "..." \
			substr($0, i + length(sentence)) : $0
	}' "$work/left" >"$work/less" && mv "$work/less" "$work/left"
}

MS=1000
options=bench/bench_options.c
figure tools/tool.c 'DEFAULT_HOSTS "127.0.0.1:' 1 'port is @ if it is left out'
figure tools/tool.c 'DEFAULT_HOSTS "127.0.0.1:' 1 'says, or 127.0.0.1:@.'
figure tools/tool.c 'DEFAULT_SESSION_MS' 1 'in milliseconds, @ by default; the'
figure tools/tool.h 'TOOL_BUSY =' 1 'fails, instead of @ '
figure tools/tool.h 'TOOL_TIMEDOUT =' 1 'or @. Do not say'
figure tools/tool.h 'TOOL_FAILED =' 1 'no such line: exit status @.'
figure tools/tool.h 'TOOL_LOST =' 1 'the exit status is then @,'
figure tools/tool.h 'TOOL_LOST =' 1 'back then; exit status @.'
figure tools/tool.h 'TOOL_USAGE =' 1 'else it is exit status @)'
figure tools/job.c 'return timeout_ms /' 1 'By default 1/@ of the session'
figure tools/job.c 'longest = timeout_ms /' 1 'timeout, at most 1/@.'
figure tools/guard.c 'SUDDEN_NS (' $MS 'group has @ seconds between'
figure tools/cmd_elect.c 'RESTART_MS' $MS 'no sooner than @ second after'
figure tools/queue_held.c 'PAUSE_MS' $MS 'either, for @ second,'
figure tools/queue_held.c 'LONGEST_MS' $MS 'up to @ seconds;'
figure tools/queue_held.h 'HELD_MAX' 1 'If @ items are passed over'
figure tools/queue_held.h 'HELD_MAX' 1 'once @ failed items are held'
figure tools/tool.h 'TOOL_BROKEN =' 1 'it ends: with @ if'
figure lib/item_name.h 'KU_ITEM_KAZOO_DEFAULT' 1 "default is 0, or @ for kazoo's kinds"
figure tools/cmd_top.c 'INTERVAL_MS' $MS 'again every @ seconds'
figure tools/cmd_top.c 'LEAST_MS' $MS 'between two looks; @ or more'
figure tools/top_count.c 'NAMED_MAX' 1 'a line of more than @ only'
figure tools/top_look.c 'LOOK_MAX' 1 'of more than @ nodes'
figure tools/cluster.h 'CLUSTER_MAX' 1 'many servers, @ at most'
figure tools/cmd_server.c 'define TICK_MAX_MS' 1 'in milliseconds, @ at most'
figure tests/support/server.c 'o->tick_ms :' 1 '; @ by default. Sessions'
figure tests/support/server.c 'o->max_session_ms :' $MS 'two ticks to @ seconds'
figure bench/histogram.h 'HISTOGRAM_PART' 1 'exceed, accurate to 1/@.'
figure $options 'MOST_PATH' 1 'of up to @ bytes,'
figure $options 'MOST_CLIENTS' 1 'many clients, 1 to @, each'
figure $options 'o->clients[0] =' 1 'with a session; by default @.'
figure bench/bench.h 'BENCH_STEPS' 1 'several numbers, up to @, each'
figure $options 'MOST_THREADS' 1 'client contend, 1 to @, with'
figure $options 'o->steps = o->threads =' 1 'with one object; by default @.'
figure $options 'MOST_WORKERS' 1 'together have no more than @.'
figure $options 'MOST_LEASES' 1 'has so many leases, 1 to @,'
figure bench/lock.h 'LOCK_LEASES' 1 'by default @; the queue has'
figure $options 'MOST_MS' 1 'between two, of up to @; by'
figure $options 'MOST_RATE' 1 'often in a second, up to @, at'
figure $options 'MOST_RUN_MS' $MS 'is counted, up to @'
figure $options 'o->duration_ms =' $MS '; by default @. Run for'
figure $options 'o->warm_up_ms =' $MS 'up to a day; by default @.'
figure $options 'o->seed =' 1 'that is drawn; by default @.'
figure $options 'MOST_KILLS' 1 'many holders, 1 to @, evenly'
figure bench/bench.h 'BENCH_SERVERS' 1 'are the servers, up to @:'
figure bench/board.h 'BOARD_SLICES' 1 'grants in each 1/@ of the time'

# Numbers that are in no source: 0 and 1, addresses, and UTF-8.
sed 's/127\.0\.0\.[0-9]//g; s/UTF-8//g' "$work/left" | grep -oE '.{0,20}\b[0-9][0-9.]*[^ ]*' |
	grep -vE '\b[01][^0-9]*$' >"$work/typed"
[ ! -s "$work/typed" ] ||
	complain "figures that nothing compares: $(cat "$work/typed")"
exit $status
