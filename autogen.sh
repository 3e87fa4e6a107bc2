#!/bin/sh
# Make ./configure from configure.ac.  Libtool's macros go into m4, which aclocal
# misses before they are there.
cd "$(dirname "$0")" && mkdir -p m4 && exec autoreconf -fi
