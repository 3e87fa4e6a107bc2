# The recipes.  Each has the four lines of its library here, and a line in
# configure.ac with its name, and that of a second header if there is one.  configure
# makes kustos-NAME.pc, and can leave the recipe out.  NAME.map and kustos/NAME.h are
# found by the name; a header says what to link with.  tests/recipe-form builds a
# small recipe in just this way.

EXTRA_LTLIBRARIES = libkustos-mutex.la
libkustos_mutex_la_SOURCES = %D%/mutex.c
libkustos_mutex_la_LIBADD = libkustos.la
libkustos_mutex_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/mutex.map

EXTRA_LTLIBRARIES += libkustos-rwlock.la
libkustos_rwlock_la_SOURCES = %D%/rwlock.c
libkustos_rwlock_la_LIBADD = libkustos.la
libkustos_rwlock_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/rwlock.map

EXTRA_LTLIBRARIES += libkustos-election.la
libkustos_election_la_SOURCES = %D%/election.c %D%/election_selector.c
libkustos_election_la_LIBADD = libkustos.la
libkustos_election_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/election.map

EXTRA_LTLIBRARIES += libkustos-semaphore.la
libkustos_semaphore_la_SOURCES = %D%/semaphore.c
libkustos_semaphore_la_LIBADD = libkustos.la
libkustos_semaphore_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/semaphore.map

EXTRA_LTLIBRARIES += libkustos-simple.la
libkustos_simple_la_SOURCES = %D%/simple.c
libkustos_simple_la_LIBADD = libkustos.la
libkustos_simple_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/simple.map

EXTRA_LTLIBRARIES += libkustos-barrier.la
libkustos_barrier_la_SOURCES = %D%/barrier.c %D%/barrier_double.c \
	%D%/countdown.c %D%/countdown_impl.h %D%/countdown_part.c \
	%D%/countdown_remove.c %D%/tally.c %D%/tally.h
libkustos_barrier_la_LIBADD = libkustos.la
libkustos_barrier_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/barrier.map

EXTRA_LTLIBRARIES += libkustos-queue.la
libkustos_queue_la_SOURCES = %D%/queue.c %D%/claim.c \
	%D%/queue_names.c %D%/queue_names.h
libkustos_queue_la_LIBADD = libkustos.la
libkustos_queue_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/queue.map

# For programs that use all of them.
all_libraries = $(EXTRA_LTLIBRARIES) libkustos.la

# What is installed: all of the recipes that were not left out.
lib_LTLIBRARIES += $(recipes:%=libkustos-%.la)
kustosinclude_HEADERS += $(headers:%=%D%/kustos/%.h) \
	$(headers:%=%D%/kustos/%.hpp)
pkgconfig_DATA += $(recipes:%=%D%/kustos-%.pc)
EXTRA_DATA = # of these configure makes all

# What the tests read and the tarball holds, whatever was left out.
recipe_headers = %D%/kustos/barrier.h %D%/kustos/claim.h \
	%D%/kustos/countdown.h %D%/kustos/election.h %D%/kustos/mutex.h \
	%D%/kustos/queue.h %D%/kustos/rwlock.h %D%/kustos/semaphore.h \
	%D%/kustos/simple.h
EXTRA_HEADERS = $(recipe_headers) $(recipe_headers:.h=.hpp)
recipe_maps = $(all_recipes:%=%D%/%.map)
$(lib_LTLIBRARIES): $(recipe_maps)
EXTRA_DIST += $(EXTRA_HEADERS) $(recipe_maps)
