# The recipes.  Each is a name, the three lines of its library, and what of it is
# installed unless configure was told --disable-NAME.  NAME.map and kustos/NAME.h
# are found by the name, and configure.ac makes kustos-NAME.pc.  A second header
# of a library says with what to link, and is named at the end as well.
# tests/recipe-form builds a small one in just this way.

all_recipes =
recipes =

all_recipes += mutex
libkustos_mutex_la_SOURCES = %D%/mutex.c
libkustos_mutex_la_LIBADD = libkustos.la
libkustos_mutex_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/mutex.map
if WITH_MUTEX
recipes += mutex
lib_LTLIBRARIES += libkustos-mutex.la
kustosinclude_HEADERS += %D%/kustos/mutex.h %D%/kustos/mutex.hpp
endif

all_recipes += rwlock
libkustos_rwlock_la_SOURCES = %D%/rwlock.c
libkustos_rwlock_la_LIBADD = libkustos.la
libkustos_rwlock_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/rwlock.map
if WITH_RWLOCK
recipes += rwlock
lib_LTLIBRARIES += libkustos-rwlock.la
kustosinclude_HEADERS += %D%/kustos/rwlock.h %D%/kustos/rwlock.hpp
endif

all_recipes += election
libkustos_election_la_SOURCES = %D%/election.c %D%/election_selector.c
libkustos_election_la_LIBADD = libkustos.la
libkustos_election_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/election.map
if WITH_ELECTION
recipes += election
lib_LTLIBRARIES += libkustos-election.la
kustosinclude_HEADERS += %D%/kustos/election.h %D%/kustos/election.hpp
endif

all_recipes += semaphore
libkustos_semaphore_la_SOURCES = %D%/semaphore.c
libkustos_semaphore_la_LIBADD = libkustos.la
libkustos_semaphore_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/semaphore.map
if WITH_SEMAPHORE
recipes += semaphore
lib_LTLIBRARIES += libkustos-semaphore.la
kustosinclude_HEADERS += %D%/kustos/semaphore.h %D%/kustos/semaphore.hpp
endif

all_recipes += simple
libkustos_simple_la_SOURCES = %D%/simple.c
libkustos_simple_la_LIBADD = libkustos.la
libkustos_simple_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/simple.map
if WITH_SIMPLE
recipes += simple
lib_LTLIBRARIES += libkustos-simple.la
kustosinclude_HEADERS += %D%/kustos/simple.h %D%/kustos/simple.hpp
endif

all_recipes += barrier
libkustos_barrier_la_SOURCES = %D%/barrier.c %D%/barrier_double.c \
	%D%/countdown.c %D%/countdown_impl.h %D%/countdown_part.c \
	%D%/tally.c %D%/tally.h
libkustos_barrier_la_LIBADD = libkustos.la
libkustos_barrier_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/barrier.map
if WITH_BARRIER
recipes += barrier
lib_LTLIBRARIES += libkustos-barrier.la
kustosinclude_HEADERS += %D%/kustos/barrier.h %D%/kustos/countdown.h \
	%D%/kustos/barrier.hpp %D%/kustos/countdown.hpp
endif

all_recipes += queue
libkustos_queue_la_SOURCES = %D%/queue.c %D%/claim.c
libkustos_queue_la_LIBADD = libkustos.la
libkustos_queue_la_LDFLAGS = $(recipe_ldflags) $(with_map)%D%/queue.map
if WITH_QUEUE
recipes += queue
lib_LTLIBRARIES += libkustos-queue.la
kustosinclude_HEADERS += %D%/kustos/queue.h %D%/kustos/claim.h \
	%D%/kustos/queue.hpp %D%/kustos/claim.hpp
endif

# What the tests read and the tarball holds, whatever was left out.
recipe_headers = $(all_recipes:%=%D%/kustos/%.h) %D%/kustos/countdown.h \
	%D%/kustos/claim.h
recipe_maps = $(all_recipes:%=%D%/%.map)
$(lib_LTLIBRARIES): $(recipe_maps)
EXTRA_DIST += $(recipe_headers) $(recipe_maps)
pkgconfig_DATA += $(recipes:%=%D%/kustos-%.pc)
