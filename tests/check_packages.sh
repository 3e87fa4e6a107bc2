#!/bin/sh
# check_packages.sh - everything that is installed is packaged.
#
# Each file that "make install" installs is in exactly one package of debian/,
# and in exactly one of the spec file.  Each line of these lists matches
# something.  The symbols file covers each library.  All name the same version.
# Run by make check on what it installed in tests/installed; by hand: see
# tests/local.mk for the environment.
set -u

: "${srcdir=.}" "${libdir?}" "${includedir?}" "${recipes?}"
. "$srcdir/tests/complain.sh"

# The installed files, as a package names them: packages are configured with
# their own prefix, docdir, and a libdir for the architecture.
prefix=${includedir%/include}
doc=$prefix/share/doc/kustos
(cd "tests/installed" && find . ! -type d) | sed -e 's/^\.//' \
	-e "s|^$libdir/|usr/lib/ARCH/|" -e "s|^$doc/|usr/share/doc/kustos-doc/|" \
	-e "s|^$prefix/|usr/|" | sort >"$work/files"
[ "$(wc -l <"$work/files")" -ge 50 ] || complain 'hardly any file is installed'

# "PATTERN PACKAGE" of each line in debian/, and in the spec file.
those_of_debian() {
	for list in "$srcdir"/debian/*.install "$srcdir"/debian/not-installed; do
		sed "s|\$| $(basename "$list")|" "$list"
	done
}
those_of_rpm() {
	echo 'usr/lib/*/*.la deleted'
	sed -n -e '/^%changelog/q' -e 's/^%files *\(.*\)/%files \1/p' \
		-e 's/^%doc //' \
		-e 's|%{_bindir}|usr/bin|p' -e 's|%{_datadir}|usr/share|p' \
		-e 's|%{_mandir}|usr/share/man|p' -e 's|%{_libdir}|usr/lib/*|p' \
		-e 's|%{_includedir}|usr/include|p' "$srcdir/rpm/kustos.spec" |
		sed -n '/^%files/,$p' | while read -r line name; do
		case $line in
		%files) package=${name#-n } ;;
		usr*) echo "$line ${package:-kustos}" ;;
		esac
	done
}

# packaged FILE: sets count to the number of lines that match the file, and
# remembers these lines.
packaged() {
	count=0
	while read -r pattern _; do
		# shellcheck disable=SC2254 # a pattern
		case $1 in
		$pattern | $pattern/*)
			count=$((count + 1))
			echo "$pattern" >>"$work/used"
			;;
		esac
	done <"$work/list"
}

for kind in debian rpm; do
	"those_of_$kind" >"$work/list"
	[ "$(wc -l <"$work/list")" -ge 8 ] ||
		complain "$kind: hardly any line was found"
	: >"$work/used"
	while read -r file; do
		packaged "$file"
		[ $count = 1 ] || complain "$kind: $count packages have $file"
	done <"$work/files"
	# A line need not match what this build was configured without.
	while read -r pattern package; do
		grep -qxF "$pattern" "$work/used" && continue
		case $pattern in
		*.a) grep -q '\.a$' "$work/files" || continue ;;
		*.so*) grep -q '\.so$' "$work/files" || continue ;;
		usr/bin/* | */bash-completion* | */man1*)
			grep -q '^usr/bin/' "$work/files" || continue
			;;
		esac
		complain "$kind: $pattern of $package names nothing"
	done <"$work/list"
done

# nodes_of MAP: the map's nodes.  noted LIBRARY: the nodes in its symbols file.
nodes_of() {
	sed -n 's/^\(KUSTOS_[A-Z0-9]*\) {$/\1/p' "$srcdir/$1" | sort
}
noted() {
	sed -n "/^$1\.so\.[0-9]* libkustos0 /,/^lib/s/^ (symver)\([^ ]*\) .*/\1/p" \
		"$srcdir/debian/libkustos0.symbols" | sort
}

# Each node of a map has a line with the version that introduced it.
for map in lib/kustos.map ${recipes:+$(printf 'recipes/%s.map ' $recipes)}; do
	name=libkustos-$(basename "$map" .map)
	[ "$map" != lib/kustos.map ] || name=libkustos
	nodes_of "$map" >"$work/nodes"
	noted "$name" | diff "$work/nodes" - ||
		complain "debian/libkustos0.symbols has not the nodes of $name"
done

version=$(sed -n 's/^AC_INIT(\[kustos\], \[\(.*\)\])$/\1/p' \
	"$srcdir/configure.ac")
[ -n "$version" ] || complain 'configure.ac tells no version'
sed -n '1s/^kustos (\([0-9.]*\)[-)].*/\1/p' "$srcdir/debian/changelog" |
	grep -qxF "$version" || complain "debian/changelog is not of $version"
sed -n 's/^#define KUSTOS_VERSION_[A-Z]* \([0-9]*\)$/\1/p' \
	"$srcdir/lib/kustos/base.h" | paste -sd. - | grep -qxF "$version" ||
	complain "lib/kustos/base.h is not of $version"
sed -n 's/^Version: *//p' "$srcdir/rpm/kustos.spec" | grep -qxF "$version" ||
	complain "rpm/kustos.spec is not of $version"
sed -n 's/^\([0-9][0-9.]*\) (.*)$/\1/p' "$srcdir/NEWS" | head -n 1 |
	grep -qxF "$version" || complain "NEWS does not begin with $version"

echo "$(wc -l <"$work/files") files"
exit $status
