# shellcheck shell=sh disable=SC2034 # for those who source it
# complain.sh - what most scripts of tests have: a folder "work" while they run, a
# "status" to end with, and complaints, which make that 1.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
status=0

complain() {
	echo "FAILED: $*"
	status=1
}
