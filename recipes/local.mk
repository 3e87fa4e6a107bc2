# The recipes: four lines for each library, one for its header, one for its
# .pc file.  With NAME for the recipe:
#
#	lib_LTLIBRARIES += libkustos-NAME.la
#	libkustos_NAME_la_SOURCES = %D%/NAME.c
#	libkustos_NAME_la_LIBADD = libkustos.la
#	libkustos_NAME_la_LDFLAGS = $(recipe_ldflags) \
#		-Wl,--version-script=$(srcdir)/%D%/NAME.map
#
#	recipe_headers += %D%/kustos/NAME.h
#	EXTRA_DIST += %D%/NAME.map
#
# tests/recipe-form builds a small one in just this way.

recipe_headers =

lib_LTLIBRARIES += libkustos-mutex.la
libkustos_mutex_la_SOURCES = %D%/mutex.c
libkustos_mutex_la_LIBADD = libkustos.la
libkustos_mutex_la_LDFLAGS = $(recipe_ldflags) \
	-Wl,--version-script=$(srcdir)/%D%/mutex.map

recipe_headers += %D%/kustos/mutex.h
EXTRA_DIST += %D%/mutex.map
pkgconfig_DATA += %D%/kustos-mutex.pc

lib_LTLIBRARIES += libkustos-rwlock.la
libkustos_rwlock_la_SOURCES = %D%/rwlock.c
libkustos_rwlock_la_LIBADD = libkustos.la
libkustos_rwlock_la_LDFLAGS = $(recipe_ldflags) \
	-Wl,--version-script=$(srcdir)/%D%/rwlock.map

recipe_headers += %D%/kustos/rwlock.h
EXTRA_DIST += %D%/rwlock.map
pkgconfig_DATA += %D%/kustos-rwlock.pc

lib_LTLIBRARIES += libkustos-election.la
libkustos_election_la_SOURCES = %D%/election.c
libkustos_election_la_LIBADD = libkustos.la
libkustos_election_la_LDFLAGS = $(recipe_ldflags) \
	-Wl,--version-script=$(srcdir)/%D%/election.map

recipe_headers += %D%/kustos/election.h
EXTRA_DIST += %D%/election.map
pkgconfig_DATA += %D%/kustos-election.pc

kustosinclude_HEADERS += $(recipe_headers)
