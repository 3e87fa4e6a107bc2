# Benchmarks: drivers that bench/compare runs side by side, as driver.h says.

noinst_PROGRAMS += %D%/serve %D%/raw_floor %D%/bench_mutex
%C%_serve_SOURCES = %D%/serve.c
%C%_serve_LDADD = libsupport.a
%C%_raw_floor_SOURCES = %D%/raw_floor.c %D%/driver.c %D%/driver.h
%C%_raw_floor_LDADD = libsupport.a
%C%_bench_mutex_SOURCES = %D%/bench_mutex.c %D%/driver.c %D%/driver.h
%C%_bench_mutex_LDADD = libsupport.a libkustos-mutex.la libkustos-rwlock.la \
	libkustos.la

EXTRA_DIST += %D%/compare %D%/peers/CuratorMutex.java %D%/peers/kazoo_mutex.py
CLEANFILES += %D%/java/CuratorMutex.class %D%/java/CuratorMutex$$Worker.class

.PHONY: bench
bench: all
	$(srcdir)/%D%/compare $(BENCH_FLAGS)
