#!/bin/sh
# check_kept_abi.sh - the ABI of the last release is still there, unchanged, so
# that programs linked with it still run.
#
# tests/abi has, for each shared library, the dump that abidw made of its public
# calls and their types at the last release.  Calls may have been added since,
# and fields at the end of structs that carry their size.  Everything else is a
# failure, and so is a new call in a node of the map that has been released
# according to NEWS.  CONTRIBUTING.md says what to do then.
#
# Run by make check; exits with 77 if there is no abidiff, if abidw writes another
# format than that of the dumps, or if the libraries are for another machine than
# the dumps or have no debug information.  "make keep-abi" writes new dumps:
# whenever wanted before the first release, and later with each release.
set -u

: "${srcdir=.}" "${recipes?}"
job=${1-check}
kept=$srcdir/tests/abi
command -v abidiff >/dev/null || exit 77
[ "$(uname -m)" = x86_64 ] || exit 77
[ -e .libs/libkustos.so ] || exit 77
readelf -S .libs/libkustos.so | grep -q '\.debug_info' || exit 77
. "$srcdir/tests/complain.sh"
: >"$work/said"

# dump NAME: the public part of a library, without where it was built.
dump() {
	abidw --exported-interfaces-only --no-show-locs --no-corpus-path \
		--no-comp-dir-path --type-id-style hash \
		--suppressions "$kept/private" ".libs/$1.so" |
		sed -e "/version='KUSTOS_PRIVATE'/d" \
			-e "s|path='[^']*/\\([a-z]*/[^/']*\\)'|path='\\1'|" \
			-e "/<function-decl name='ku_/,/<\/function-decl>/d"
}

# format: the version of the format of the dump on standard input.
format() {
	sed -n "s/^<abi-corpus version='\([^']*\)'.*/\1/p"
}

# cut_to KEPT NOW: the dump NOW without the fields that were added at the end of
# structs that begin with their size.  (The option of abidiff for this would
# ignore all other changes of these structs, too.)
cut_to() {
	${AWK-awk} -F "'" '
		/<class-decl / { name = /size-in-bits=/ ? $2 : ""; first = 1
			inside = bits[name]; is = $4 }
		FNR == NR {
			if (/<var-decl / && first && name != "") {
				if ($2 == "size")
					bits[name] = is
				first = 0
			}
			next
		}
		/<class-decl / && inside && is > inside {
			sub("size-in-bits=.[0-9]*", "size-in-bits=" FS inside)
		}
		/<data-member / && inside && $4 + 0 >= inside { skip = 1 }
		!skip
		/<\/data-member>/ { skip = 0 }
		/<\/class-decl>/ { inside = 0 }' "$1" "$2"
}

# calls DUMP: "NODE NAME" of each call.  grown KEPT NOW: the calls that are new,
# but in an old node.
calls() {
	sed -n "s/.*<elf-symbol name='\([^']*\)' version='\([^']*\)'.*/\2 \1/p" \
		"$1" | sort
}
grown() {
	calls "$1" >"$work/were"
	cut -d ' ' -f 1 "$work/were" | sort -u >"$work/nodes"
	calls "$2" | comm -13 "$work/were" - | grep -wFf "$work/nodes"
}

# released: does NEWS have a version that is out?  developed: and one that is
# not yet?
headings() {
	grep '^[0-9][0-9.]* (' "$srcdir/NEWS"
}
released() {
	headings | grep -qv '(not released)$'
}
developed() {
	headings | grep -q '(not released)$'
}

# still KEPT NOW: is everything of KEPT still there, and the same?
still() {
	cut_to "$1" "$2" >"$work/cut.abi"
	abidiff --no-added-syms "$1" "$work/cut.abi" >"$work/said" 2>&1 ||
		return
	! released || ! grown "$1" "$2" >>"$work/said"
}

compare() {
	[ -e "$kept/$1.abi" ] && dump "$1" >"$work/$1.abi" &&
		still "$kept/$1.abi" "$work/$1.abi" &&
		echo "$1: as it was" && return
	cat "$work/said"
	echo "FAILED: $1: see CONTRIBUTING.md, ABI; if it may change: make keep-abi"
	return 1
}

# To test the check, the mutex's present dump is edited and taken for the kept
# one, so that the library differs from it.
#
# edited SCRIPT: store in $work/edited what sed makes of the dump.
edited() {
	sed "$1" "$work/libkustos-mutex.abi" >"$work/edited"
	! cmp -s "$work/edited" "$work/libkustos-mutex.abi" && return
	complain "nothing was edited by $1"
}

# minds WHAT SCRIPT [NOW]: the check must report the change.  accepts: it must
# not.
minds() {
	edited "$2"
	! still "$work/edited" "${3-$work/libkustos-mutex.abi}" && return
	complain "nothing is said of $1"
}
accepts() {
	edited "$2"
	still "$work/edited" "${3-$work/libkustos-mutex.abi}" && return
	cat "$work/said"
	complain "$1 is complained of"
}

# Tests the check itself: it reports whatever breaks a program, and nothing
# else.
check_the_check() {
	lock="/<function-decl name='kustos_mutex_lock'/,/<return/"
	minds 'a call that is gone' 's/kustos_mutex_token/kustos_mutex_gone/'
	minds 'an argument more' "$lock{/name='cancel'/d;}"
	minds 'arguments in another order' "$lock{/name='mutex'/{h;d;};/name='cancel'/G;}"
	minds 'another type that is returned' \
		"/<function-decl name='kustos_mutex_token'/,/<return/{/<return/s/'.*'/'95e97e5e'/;}"
	minds 'another number of an enum' "/'KUSTOS_ELOST'/s/41/44/"
	minds 'a field of another type' \
		"/'local_handoffs'/s/type-id='[^']*'/type-id='95e97e5f'/"
	minds 'a field that has moved' \
		"/offset-in-bits='64'/{N;s/64\(.*local_handoffs\)/96\1/;}"
	minds 'a struct without a size that grew' \
		"/'kustos_lockable' size/,/class-decl>/{s/'320'/'256'/;/='256'>/,/member>/d;}"
	more='/elf-symbol.*kustos_mutex_mixed/d
		/<function-decl.*kustos_mutex_mixed/,/function-decl>/d'
	sed "/elf-symbol.*kustos_mutex_mixed/s/KUSTOS_0/KUSTOS_NEW/" \
		"$work/libkustos-mutex.abi" >"$work/later.abi"
	(
		released() { false; }
		accepts 'a call more' "$more"
		exit $status
	) && (
		released() { true; }
		minds 'a call more in a node that was released' "$more"
		accepts 'a call more in a new node' "$more" "$work/later.abi"
		exit $status
	) || status=1
	minds 'a field more at the end, and another type' \
		"/'kustos_mutex_options' size/,/class-decl>/{s/'768'/'704'/;/='704'>/,/member>/d;
		/'local_handoffs'/s/type-id='[^']*'/type-id='95e97e5f'/;}"
	accepts 'a field more at the end of options' \
		"/'kustos_mutex_options' size/,/class-decl>/{s/'768'/'704'/;/='704'>/,/member>/d;}"
}

if [ "$job" = keep ] && released && developed; then
	complain 'what is kept is a release: say in NEWS that this is one'
	exit 1
fi
# Newer versions of abidw (2.6) do not know the label in tests/abi/private, and leave
# out the arguments of private types.  Such dumps show changes that nobody made.
now_format=$(dump libkustos | format)
kept_format=$now_format
[ ! -f "$kept/libkustos.abi" ] || kept_format=$(format <"$kept/libkustos.abi")
if [ -n "$now_format" ] && [ "$kept_format" != "$now_format" ]; then
	echo "abidw writes format $now_format, and the dumps have format $kept_format"
	[ "$job" = check ] && exit 77
	exit 1
fi
# Without recipes, printf would print a library without a name.
for name in libkustos ${recipes:+$(printf 'libkustos-%s ' $recipes)}; do
	if [ "$job" = keep ]; then
		dump "$name" >"$kept/$name.abi"
	else
		compare "$name" || status=1
	fi
done
case "$job $recipes " in
'check '*' mutex '* | 'check mutex '*) check_the_check ;;
esac
exit $status
