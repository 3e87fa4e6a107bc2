# The test bed: servers, proxies and faults.  A new file is one line, and so is
# a test of the bed itself.

noinst_LIBRARIES += libsupport.a
libsupport_a_SOURCES = \
	%D%/child.c %D%/child.h \
	%D%/close_from.c %D%/close_from.h \
	%D%/ensemble.c %D%/ensemble.h \
	%D%/net.c %D%/net.h \
	%D%/process.c %D%/process.h \
	%D%/proxy.c %D%/proxy.h \
	%D%/proxy_link.c %D%/proxy_link.h \
	%D%/raw.c %D%/raw.h \
	%D%/raw_conn.c %D%/raw_conn.h \
	%D%/raw_once.c \
	%D%/rawkill.c %D%/rawkill.h \
	%D%/reaper.c %D%/reaper.h \
	%D%/reaper_loop.c %D%/reaper_loop.h \
	%D%/sanitized.h \
	%D%/server.c %D%/server.h \
	%D%/server_parts.h \
	%D%/zkproto.h
if HAVE_CHECK
libsupport_a_SOURCES += %D%/fixture.c %D%/fixture.h
endif

# This is a library of its own, because a program linked with it has its own
# send() and malloc().  A test that includes inject.h takes two more lines, as
# test_inject below.
check_LIBRARIES += libinject.a
libinject_a_SOURCES = \
	%D%/inject.c %D%/inject.h \
	%D%/inject_alloc.c \
	%D%/inject_frame.c \
	%D%/inject_impl.h
inject_ldflags = $(AM_LDFLAGS) -rdynamic

bed_tests += %D%/test_support

# These two use libzookeeper_mt itself.
if HAVE_MT
bed_tests += %D%/test_inject %D%/test_proxy
endif
%C%_test_inject_LDADD = libinject.a $(LDADD) $(ZOOKEEPER_MT_LIBS)
%C%_test_inject_LDFLAGS = $(inject_ldflags)
%C%_test_proxy_LDADD = $(LDADD) $(ZOOKEEPER_MT_LIBS)
