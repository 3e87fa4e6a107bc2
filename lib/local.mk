# The core.  A new file is one line in the list of sources (or of headers).

core_headers = \
	%D%/kustos/base.h \
	%D%/kustos/cancel.h \
	%D%/kustos/client.h \
	%D%/kustos/hold.h \
	%D%/kustos/node.h \
	%D%/kustos/participant.h \
	%D%/kustos/retry.h

core_sources = \
	%D%/beat.c %D%/beat.h \
	%D%/cancel.c %D%/cancel.h \
	%D%/candidate.c %D%/candidate.h \
	%D%/claim.c %D%/claim.h \
	%D%/client.c %D%/client.h \
	%D%/clock.c %D%/clock.h \
	%D%/close.c \
	%D%/config.c \
	%D%/dispatch.c %D%/dispatch.h \
	%D%/env.h \
	%D%/error.c \
	%D%/footprint.c %D%/footprint.h \
	%D%/fork.c %D%/fork.h \
	%D%/gate.c %D%/gate.h %D%/gate_impl.h \
	%D%/gate_lock.c %D%/gate_turn.c \
	%D%/hosts.c %D%/hosts.h \
	%D%/lease.c %D%/lease.h \
	%D%/hold.c %D%/hold.h \
	%D%/line.c %D%/line.h \
	%D%/line_impl.h \
	%D%/line_look.c \
	%D%/line_session.c \
	%D%/line_watch.c \
	%D%/listener.c \
	%D%/log.c \
	%D%/lookup.c %D%/lookup.h \
	%D%/manager.c %D%/manager.h \
	%D%/name.c %D%/name.h \
	%D%/node.c \
	%D%/op.c %D%/op.h \
	%D%/op_create.c \
	%D%/op_list.c \
	%D%/op_new.c \
	%D%/op_resolve.c \
	%D%/op_start.c \
	%D%/participant.c \
	%D%/place.c \
	%D%/place_take.c \
	%D%/probe.c %D%/probe.h \
	%D%/random.c %D%/random.h \
	%D%/rank.c %D%/rank.h \
	%D%/recipe.c %D%/recipe.h \
	%D%/service.h \
	%D%/resolve.c %D%/resolve.h \
	%D%/retry.c %D%/retry.h \
	%D%/session.c %D%/session.h \
	%D%/stats.c %D%/stats.h \
	%D%/steer.c %D%/steer.h \
	%D%/thread.c %D%/thread.h \
	%D%/timer.c %D%/timer.h \
	%D%/wait.c %D%/wait.h \
	%D%/watch.c %D%/watch.h \
	%D%/wire.c %D%/wire.h \
	%D%/zk.h \
	%D%/zk_call.c %D%/zk_call.h \
	%D%/zk_fd.c %D%/zk_fd.h \
	%D%/zk_mt.c \
	%D%/zk_thread.c %D%/zk_thread.h

# Tests of internals link the convenience library, everybody else libkustos.
noinst_LTLIBRARIES += libkustos_core.la
libkustos_core_la_SOURCES = $(core_sources)
libkustos_core_la_LIBADD = $(ZOOKEEPER_LIBS)

lib_LTLIBRARIES += libkustos.la
libkustos_la_SOURCES =
libkustos_la_LIBADD = libkustos_core.la
libkustos_la_LDFLAGS = $(recipe_ldflags) \
	-Wl,--version-script=$(srcdir)/%D%/kustos.map
libkustos_la_DEPENDENCIES = libkustos_core.la %D%/kustos.map

kustosincludedir = $(includedir)/kustos
kustosinclude_HEADERS = $(core_headers)

pkgconfig_DATA += %D%/kustos.pc
EXTRA_DIST += %D%/kustos.map
