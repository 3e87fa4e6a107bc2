# shellcheck shell=sh disable=SC2034 # for those who source it
# complain.sh - what most test scripts need: a folder "$work" that is removed in
# the end, an exit code "$status", and complain, which prints a failure and sets
# it to 1.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
status=0

complain() {
	echo "FAILED: $*"
	status=1
}
