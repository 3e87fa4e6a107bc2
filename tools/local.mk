# Programs.  The command and kustos-demo start servers of the test bed, hence
# libsupport.a.  They use every recipe, so they are not built if one is left out.

if WITH_ALL
bin_PROGRAMS = kustos
noinst_PROGRAMS += kustos-demo
dist_man_MANS += doc/man/kustos.1
completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = %D%/completion/kustos
endif

kustos_SOURCES = \
	%D%/access.c %D%/access.h \
	%D%/ask.c %D%/ask.h \
	%D%/cluster.c %D%/cluster.h \
	%D%/cmd_barrier.c \
	%D%/cmd_break.c \
	%D%/cmd_elect.c \
	%D%/cmd_latch.c \
	%D%/cmd_lock.c \
	%D%/cmd_ls.c \
	%D%/cmd_queue.c \
	%D%/cmd_semaphore.c \
	%D%/cmd_server.c \
	%D%/cmd_top.c \
	%D%/command.c %D%/command.h \
	%D%/elect_options.c %D%/elect_options.h \
	%D%/elect_watch.c %D%/elect_watch.h \
	%D%/flight.c %D%/flight.h \
	%D%/guard.c %D%/guard.h \
	%D%/job.c %D%/job.h \
	%D%/json.c %D%/json.h \
	%D%/kustos.c \
	%D%/item_sort.c %D%/item_sort.h \
	%D%/latch_run.c %D%/latch_run.h \
	%D%/layout.c %D%/layout.h \
	%D%/lines.c %D%/lines.h \
	%D%/lock_options.c %D%/lock_options.h \
	%D%/queue.h %D%/queue_consume.c %D%/queue_kind.c \
	%D%/queue_held.c %D%/queue_held.h \
	%D%/queue_ls.c %D%/queue_options.c \
	%D%/show.c %D%/show.h \
	%D%/signals.c %D%/signals.h \
	%D%/together_options.c %D%/together_options.h \
	%D%/standing.c %D%/standing.h \
	%D%/tool.c %D%/tool.h \
	%D%/top.h %D%/top_count.c %D%/top_look.c %D%/top_show.c \
	%D%/under.c %D%/under.h
kustos_LDADD = libbench.a libsupport.a $(all_libraries) -lm

kustos_demo_SOURCES = \
	%D%/demo.c \
	%D%/demo_curator.c \
	%D%/demo.h
kustos_demo_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPEERS='"$(abs_top_srcdir)/bench/peers"'
kustos_demo_LDADD = libbench.a libsupport.a libkustos-mutex.la libkustos.la

EXTRA_DIST += %D%/lint %D%/maint/newcomer %D%/maint/packages \
	%D%/maint/tarball
