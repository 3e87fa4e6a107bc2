# shellcheck shell=sh disable=SC2034 # for those who source it
# installed.sh - what tests of an installed tree need: complain.sh, and a
# pkg-config that finds only the .pc files that has_pc has put into "$work".
#
# The environment says where the tree is: see tests/local.mk.  The default is
# what make check has installed for these tests.
: "${installed=$PWD/tests/installed}" "${flags=}"
: "${libdir?}" "${pkgconfigdir?}"
command -v pkg-config >/dev/null || exit 77
. "${srcdir?}/tests/complain.sh"

# has_pc NAME...: their .pc files can be found from now on.
has_pc() {
	for name; do
		cp "$installed$pkgconfigdir/$name.pc" "$work/pc" || return
	done
}

# The .pc files name the folders of the prefix.  They are made to point into the
# tree, even for a prefix that pkg-config takes for one that is searched anyway.
PKG_CONFIG_SYSROOT_DIR=$installed
PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
PKG_CONFIG_LIBDIR=$work/pc
unset PKG_CONFIG_PATH
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_ALLOW_SYSTEM_CFLAGS \
	PKG_CONFIG_ALLOW_SYSTEM_LIBS PKG_CONFIG_LIBDIR
mkdir "$work/pc"
has_pc kustos || exit 1
libdir=$installed$libdir
