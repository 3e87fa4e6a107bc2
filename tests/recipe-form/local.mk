# Is the form of recipes/local.mk right?  A recipe library of one function,
# made of the same four lines (but not installed), and a program that loads it
# and looks at what it exports.

check_LTLIBRARIES += libkustos-stub.la
libkustos_stub_la_SOURCES = %D%/stub.c %D%/kustos/stub.h
libkustos_stub_la_LIBADD = libkustos.la
libkustos_stub_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/stub.map

EXTRA_DIST += %D%/stub.map

check_PROGRAMS += %D%/use_stub
%C%_use_stub_LDADD = libkustos-stub.la libkustos.la -ldl
TESTS += %D%/use_stub
