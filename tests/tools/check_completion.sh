#!/bin/bash
# check_completion.sh - the completion for bash offers what the command accepts.
set -u

: "${srcdir=.}"
kustos=${KUSTOS-./kustos}
. "$srcdir/tools/completion/kustos"

# offers WORD WORDS...: WORD is among the completions of the last of WORDS.
offers() {
	local wanted=$1 word
	shift
	COMP_WORDS=(kustos "$@")
	COMP_CWORD=$#
	_kustos "$kustos"
	for word in "${COMPREPLY[@]}"; do
		[ "$word" = "$wanted" ] && return
	done
	echo "'kustos $*' does not offer $wanted, but ${COMPREPLY[*]}"
	return 1
}

status=0
offers lock lo || status=1
offers --version --v || status=1
offers semaphore help sem || status=1
offers --wait lock --w || status=1
offers -n lock - || status=1
offers enter barrier e || status=1
offers '' lock --nothing && status=1
subcommands=$("$kustos" help | sed -n 's/^  kustos \([a-z]*\) .*/\1/p')
for name in $subcommands; do
	offers "$name" '' || status=1
	offers --help "$name" --h || status=1
	options=$("$kustos" "$name" --help | grep -E '^ +-' |
		grep -oE '^ +-[a-zA-Z]|--[a-z]+(-[a-z]+)*' | tr -d ' ')
	for option in $options; do
		offers "$option" "$name" - || status=1
	done
	[ -n "$options" ] || status=1
done
[ -n "$subcommands" ] || status=1
exit $status
