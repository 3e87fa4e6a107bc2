# Tests in which processes of Curator, of kazoo, and of ZooKeeper's own recipes use
# the same paths as ours.
# Each exits with 77 (skipped) where one of these is missing.  Each has one line
# here.

check_LIBRARIES += libinterop.a
libinterop_a_SOURCES = \
	%D%/nemesis.c %D%/nemesis.h \
	%D%/peer.h %D%/peer_process.c \
	%D%/spans.c %D%/spans.h \
	%D%/turns.c %D%/turns.h \
	%D%/voters.c %D%/voters.h
libinterop_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-DINTEROP_SRC='"$(abs_top_srcdir)/%D%"' \
	-DINTEROP_BUILD='"$(abs_top_builddir)/%D%"' \
	-DINTEROP_EXAMPLES='"$(abs_top_srcdir)/doc/examples"'

# They are linked with the installed libraries only, and so cannot use anything
# internal.
interop_ldadd = libinterop.a libintegration.a libsupport.a \
	$(all_libraries) $(CHECK_LIBS)

interop_tests = %D%/test_container
%C%_test_container_LDADD = $(interop_ldadd)
interop_tests += %D%/test_barrier
%C%_test_barrier_LDADD = $(interop_ldadd)
interop_tests += %D%/test_claim
%C%_test_claim_LDADD = $(interop_ldadd)
interop_tests += %D%/test_exclusion
%C%_test_exclusion_LDADD = $(interop_ldadd)
interop_tests += %D%/test_foreign
%C%_test_foreign_LDADD = $(interop_ldadd)
interop_tests += %D%/test_killed
%C%_test_killed_LDADD = $(interop_ldadd)
interop_tests += %D%/test_latch
%C%_test_latch_LDADD = $(interop_ldadd)
interop_tests += %D%/test_mixed
%C%_test_mixed_LDADD = libcli.a $(interop_ldadd)
interop_tests += %D%/test_order
%C%_test_order_LDADD = $(interop_ldadd)
interop_tests += %D%/test_participants
%C%_test_participants_LDADD = libcli.a $(interop_ldadd)
interop_tests += %D%/test_queue
%C%_test_queue_LDADD = $(interop_ldadd)
interop_tests += %D%/test_queue_crowd
%C%_test_queue_crowd_LDADD = $(interop_ldadd)
interop_tests += %D%/test_queue_id
%C%_test_queue_id_LDADD = $(interop_ldadd)
interop_tests += %D%/test_queue_parts
%C%_test_queue_parts_LDADD = $(interop_ldadd)
interop_tests += %D%/test_queue_zookeeper
%C%_test_queue_zookeeper_LDADD = $(interop_ldadd)
interop_tests += %D%/test_requeue
%C%_test_requeue_LDADD = $(interop_ldadd)
interop_tests += %D%/test_revoke
%C%_test_revoke_LDADD = $(interop_ldadd)
interop_tests += %D%/test_rwlock
%C%_test_rwlock_LDADD = $(interop_ldadd)
interop_tests += %D%/test_selector
%C%_test_selector_LDADD = $(interop_ldadd)
interop_tests += %D%/test_semaphore
%C%_test_semaphore_LDADD = $(interop_ldadd)
interop_tests += %D%/test_semaphore_size
%C%_test_semaphore_size_LDADD = $(interop_ldadd)
interop_tests += %D%/test_shards
%C%_test_shards_LDADD = $(interop_ldadd)
interop_tests += %D%/test_simple
%C%_test_simple_LDADD = $(interop_ldadd)
interop_tests += %D%/test_spans
%C%_test_spans_LDADD = $(interop_ldadd)
# For check-soak only.
EXTRA_PROGRAMS += %D%/test_soak
%C%_test_soak_SOURCES = %D%/test_soak.c %D%/soak.c %D%/soak.h \
	%D%/soak_line.c %D%/soak_line.h %D%/soak_lock.c \
	%D%/soak_semaphore.c %D%/soak_election.c \
	%D%/soak_items.c %D%/soak_items.h %D%/soak_queue.c %D%/soak_claims.c
%C%_test_soak_LDADD = $(interop_ldadd)
interop_tests += %D%/test_together
%C%_test_together_LDADD = $(interop_ldadd)
interop_tests += %D%/test_write_lock
%C%_test_write_lock_LDADD = $(interop_ldadd)

# The peers' programs.  Those in Java are compiled where there is a compiler; the
# tests find out whether they exist.
if WITH_ALL
check_PROGRAMS += %D%/peer
check_DATA += %D%/Peer.stamp %D%/Recipes.stamp
endif
%C%_peer_SOURCES = %D%/peer.c %D%/peer_elect.c %D%/peer_semaphore.c \
	%D%/peer_barrier.c %D%/peer_holds.c %D%/peer_queue.c %D%/peer_words.h
%C%_peer_LDADD = $(all_libraries)
%C%_peer_LDFLAGS = $(AM_LDFLAGS) -no-install

curator_jar = /usr/share/java/curator-recipes.jar
peer_java = $(srcdir)/%D%/Peer.java $(srcdir)/%D%/Leases.java \
	$(srcdir)/%D%/Barriers.java $(srcdir)/%D%/Bare.java \
	$(srcdir)/%D%/Queues.java $(srcdir)/%D%/Shards.java \
	$(srcdir)/%D%/Workers.java
%D%/Peer.stamp: $(peer_java)
	@$(MKDIR_P) %D%
	$(AM_V_GEN)if test -f $(curator_jar) && javac -version >/dev/null 2>&1; \
	then \
		javac -Xlint:all,-path,-processing -d %D% \
			-cp $(curator_jar) $(peer_java) && \
		touch $@; \
	fi

zookeeper_lock_jar = /usr/share/java/zookeeper-recipes-lock.jar
zookeeper_queue_jar = /usr/share/java/zookeeper-recipes-queue.jar
recipes_java = $(srcdir)/%D%/Recipes.java
%D%/Recipes.stamp: $(recipes_java)
	@$(MKDIR_P) %D%
	$(AM_V_GEN)if test -f $(zookeeper_lock_jar) && \
		test -f $(zookeeper_queue_jar) && javac -version >/dev/null 2>&1; \
	then \
		javac -Xlint:all,-path,-processing -d %D% \
			-cp $(zookeeper_lock_jar):$(zookeeper_queue_jar) \
			$(recipes_java) && \
		touch $@; \
	fi

EXTRA_DIST += %D%/Peer.java %D%/Leases.java %D%/Barriers.java %D%/Bare.java
EXTRA_DIST += %D%/Queues.java %D%/Recipes.java %D%/Shards.java %D%/Workers.java
EXTRA_DIST += %D%/peer.py doc/examples/kustos_lock.py
CLEANFILES += %D%/*.class %D%/Peer.stamp %D%/Recipes.stamp

if HAVE_CHECK
if WITH_ALL
check_PROGRAMS += $(interop_tests)
TESTS += $(interop_tests)
endif
endif

# Part of "make check-long".  SOAK_SECONDS is for each scene.  SOAK_SEED is another one
# each time.  77: something that it needs is missing.
SOAK_SECONDS = 180
.PHONY: check-interop check-soak
check-soak: %D%/test_soak %D%/peer %D%/Peer.stamp
	@seed=$${SOAK_SEED-$$(date +%s)}; echo "SOAK_SEED=$$seed"; \
	SOAK_SEED=$$seed SOAK_SECONDS=$(SOAK_SECONDS) %D%/test_soak || \
		test $$? -eq 77
check-interop:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(interop_tests)'
