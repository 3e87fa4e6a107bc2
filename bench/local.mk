# kustos bench, a part of the command; and drivers that bench/compare runs side by
# side, as driver.h says.

kustos_SOURCES += \
	%D%/bench.h %D%/bench_options.c \
	%D%/cmd_bench.c \
	%D%/gnuplot.c %D%/gnuplot.h \
	%D%/lock.c %D%/lock.h %D%/lock_impl.h \
	%D%/lock_elect.c %D%/lock_meet.c \
	%D%/plot.c %D%/plot.h \
	%D%/progress.c %D%/progress.h \
	%D%/report.h %D%/report_csv.c %D%/report_json.c %D%/report_table.c \
	%D%/run.c %D%/run.h \
	%D%/site.c %D%/site.h \
	%D%/worker.c %D%/worker.h

# What has tests of its own.
noinst_LIBRARIES += libbench.a
libbench_a_SOURCES = \
	%D%/board.c %D%/board.h \
	%D%/clocks.c %D%/clocks.h \
	%D%/fairness.c %D%/fairness.h \
	%D%/figures.c %D%/figures.h \
	%D%/histogram.c %D%/histogram.h \
	%D%/mntr.c %D%/mntr.h \
	%D%/pace.c %D%/pace.h \
	%D%/plan.c

if WITH_ALL
noinst_PROGRAMS += %D%/serve %D%/raw_floor %D%/bench_mutex %D%/bench_queue \
	%D%/bench_together
if HAVE_MT
noinst_PROGRAMS += %D%/mt_floor
endif
endif
%C%_serve_SOURCES = %D%/serve.c
%C%_serve_LDADD = libsupport.a
%C%_raw_floor_SOURCES = %D%/raw_floor.c %D%/raw_floor.h \
	%D%/driver.c %D%/driver.h \
	%D%/raw_alone.c %D%/raw_line.c %D%/raw_meet.c \
	%D%/raw_items.c %D%/raw_crowd.c %D%/raw_queue.c %D%/raw_queue.h \
	%D%/raw_link.c %D%/raw_link.h
%C%_raw_floor_LDADD = libbench.a libsupport.a
%C%_mt_floor_SOURCES = %D%/mt_floor.c %D%/driver.c %D%/driver.h \
	%D%/raw_link.c %D%/raw_link.h %D%/raw_queue.c %D%/raw_queue.h
%C%_mt_floor_LDADD = libbench.a libsupport.a $(ZOOKEEPER_MT_LIBS)
%C%_bench_mutex_SOURCES = %D%/bench_mutex.c %D%/driver.c %D%/driver.h \
	%D%/session.c %D%/session.h \
	%D%/lock.c %D%/lock.h %D%/lock_impl.h \
	%D%/lock_elect.c %D%/lock_meet.c
%C%_bench_mutex_LDADD = libbench.a libsupport.a $(all_libraries)

%C%_bench_queue_SOURCES = %D%/bench_queue.c %D%/driver.c %D%/driver.h \
	%D%/session.c %D%/session.h
%C%_bench_queue_LDADD = libbench.a libsupport.a $(all_libraries)

%C%_bench_together_SOURCES = %D%/bench_together.c %D%/driver.c %D%/driver.h \
	%D%/session.c %D%/session.h
%C%_bench_together_LDADD = libbench.a libsupport.a $(all_libraries)

EXTRA_DIST += %D%/compare %D%/driver.py %D%/page.py %D%/record.py \
	%D%/workloads.py \
	%D%/peers/CuratorMutex.java \
	%D%/peers/CuratorQueue.java %D%/peers/CuratorTogether.java \
	%D%/peers/Driver.java \
	%D%/peers/kazoo_mutex.py %D%/peers/kazoo_other.py
CLEANFILES += %D%/java/*.class

.PHONY: bench performance
bench: all
	$(srcdir)/%D%/compare $(BENCH_FLAGS)
# The same, and doc/performance.md, its plots, its figures (performance.json) and
# README's table of it.  This takes half an hour, on a machine that should have nothing
# else to do.  With BENCH_FLAGS='--workload W' only that row is measured anew.
performance: all
	$(srcdir)/%D%/compare --page $(srcdir)/doc/performance.md \
		--readme $(srcdir)/README.md $(BENCH_FLAGS)
