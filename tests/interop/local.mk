# Tests with processes of Curator and kazoo on the same paths as ours.  They
# exit 77 where one of these is missing.  One line each.

check_LIBRARIES += libinterop.a
libinterop_a_SOURCES = \
	%D%/peer.h %D%/peer_process.c \
	%D%/spans.c %D%/spans.h \
	%D%/turns.c %D%/turns.h
libinterop_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-DINTEROP_SRC='"$(abs_top_srcdir)/%D%"' \
	-DINTEROP_BUILD='"$(abs_top_builddir)/%D%"' \
	-DINTEROP_EXAMPLES='"$(abs_top_srcdir)/doc/examples"'

# They see of Kustos what is installed, and nothing of its insides.
interop_ldadd = libinterop.a libintegration.a libsupport.a \
	libkustos-mutex.la libkustos-rwlock.la libkustos-election.la \
	libkustos.la $(CHECK_LIBS)

interop_tests = %D%/test_container
%C%_test_container_LDADD = $(interop_ldadd)
interop_tests += %D%/test_exclusion
%C%_test_exclusion_LDADD = $(interop_ldadd)
interop_tests += %D%/test_foreign
%C%_test_foreign_LDADD = $(interop_ldadd)
interop_tests += %D%/test_killed
%C%_test_killed_LDADD = $(interop_ldadd)
interop_tests += %D%/test_latch
%C%_test_latch_LDADD = $(interop_ldadd)
interop_tests += %D%/test_mixed
%C%_test_mixed_LDADD = $(interop_ldadd)
interop_tests += %D%/test_order
%C%_test_order_LDADD = $(interop_ldadd)
interop_tests += %D%/test_participants
%C%_test_participants_LDADD = $(interop_ldadd)
interop_tests += %D%/test_revoke
%C%_test_revoke_LDADD = $(interop_ldadd)
interop_tests += %D%/test_rwlock
%C%_test_rwlock_LDADD = $(interop_ldadd)
interop_tests += %D%/test_spans
%C%_test_spans_LDADD = $(interop_ldadd)

# The three processes.  Curator's is compiled where there is a compiler; the
# tests look whether it is there.
check_PROGRAMS += %D%/peer
%C%_peer_LDADD = libkustos-mutex.la libkustos-rwlock.la libkustos-election.la \
	libkustos.la
%C%_peer_LDFLAGS = $(AM_LDFLAGS) -no-install

check_DATA = %D%/Peer.stamp
curator_jar = /usr/share/java/curator-recipes.jar
%D%/Peer.stamp: %D%/Peer.java
	@$(MKDIR_P) %D%
	$(AM_V_GEN)if test -f $(curator_jar) && javac -version >/dev/null 2>&1; \
	then \
		javac -Xlint:all,-path,-processing -d %D% \
			-cp $(curator_jar) $(srcdir)/%D%/Peer.java && \
		touch $@; \
	fi

EXTRA_DIST += %D%/Peer.java %D%/peer.py doc/examples/kustos_lock.py
CLEANFILES += %D%/Peer.class %D%/Peer.stamp

if HAVE_CHECK
check_PROGRAMS += $(interop_tests)
TESTS += $(interop_tests)
endif

.PHONY: check-interop
check-interop:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(interop_tests)'
