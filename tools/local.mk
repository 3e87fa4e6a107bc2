# Programs.  The command and kustos-demo start servers of the test bed, hence
# libsupport.a.

bin_PROGRAMS = kustos
kustos_SOURCES = \
	%D%/cluster.c %D%/cluster.h \
	%D%/cmd_break.c \
	%D%/cmd_lock.c \
	%D%/cmd_ls.c \
	%D%/cmd_server.c \
	%D%/command.c %D%/command.h \
	%D%/guard.c %D%/guard.h \
	%D%/json.c %D%/json.h \
	%D%/kustos.c \
	%D%/lock_options.c %D%/lock_options.h \
	%D%/show.c %D%/show.h \
	%D%/signals.c %D%/signals.h \
	%D%/tool.c %D%/tool.h \
	%D%/under.c %D%/under.h
kustos_CPPFLAGS = $(AM_CPPFLAGS) -DKUSTOS_VERSION='"$(VERSION)"'
kustos_LDADD = libsupport.a libkustos-mutex.la libkustos-rwlock.la \
	libkustos.la

noinst_PROGRAMS += kustos-demo
kustos_demo_SOURCES = \
	%D%/demo.c \
	%D%/demo_curator.c \
	%D%/demo.h
kustos_demo_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPEERS='"$(abs_top_srcdir)/bench/peers"'
kustos_demo_LDADD = libsupport.a libkustos-mutex.la libkustos.la

EXTRA_DIST += %D%/lint
