# Tests against a real server; they exit 77 where none can be started.  One
# line each.  Those in native_tests are not run under valgrind: it has allocators
# of its own, does not know all that a socket can be asked, and is too slow to
# hammer a server or to be in time for anything; sizes mean nothing there, and a
# forked child seems to leak what its parent's threads had.

check_LIBRARIES += libintegration.a
libintegration_a_SOURCES = \
	%D%/client_fixture.c %D%/client_fixture.h \
	%D%/latch_fixture.c %D%/latch_fixture.h \
	%D%/mutex_fixture.c %D%/mutex_fixture.h \
	%D%/mutex_pair.c %D%/mutex_pair.h \
	%D%/rwlock_fixture.c %D%/rwlock_fixture.h \
	%D%/side.h

# Tests of a recipe see of Kustos what is installed, and nothing of its insides.
recipe_ldadd = libintegration.a libinterop.a libsupport.a \
	libkustos-mutex.la libkustos-rwlock.la libkustos-election.la \
	libkustos.la $(CHECK_LIBS)

integration_tests += %D%/test_access
native_tests += %D%/test_alloc
%C%_test_alloc_LDADD = libinject.a $(LDADD)
%C%_test_alloc_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_callbacks
integration_tests += %D%/test_cancel_ops
integration_tests += %D%/test_close
integration_tests += %D%/test_connect
native_tests += %D%/test_cost
integration_tests += %D%/test_dispatch_fd
integration_tests += %D%/test_failover
integration_tests += %D%/test_edges
native_tests += %D%/test_fork
integration_tests += %D%/test_guaranteed
%C%_test_guaranteed_LDADD = libinject.a $(LDADD)
%C%_test_guaranteed_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_kick
integration_tests += %D%/test_lag
%C%_test_lag_LDADD = libinject.a $(LDADD)
%C%_test_lag_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_latch
%C%_test_latch_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_latch_callbacks
%C%_test_latch_callbacks_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_latch_faults
%C%_test_latch_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_latch_faults_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_latch_storm
%C%_test_latch_storm_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_terms
%C%_test_latch_terms_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_latch_tries
%C%_test_latch_tries_LDADD = libinject.a $(recipe_ldadd)
%C%_test_latch_tries_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_lease
%C%_test_lease_LDADD = libinject.a $(LDADD)
%C%_test_lease_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_limits
%C%_test_limits_LDADD = libinject.a $(LDADD)
%C%_test_limits_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_lost_in_time
native_tests += %D%/test_mutex
%C%_test_mutex_LDADD = $(recipe_ldadd)
native_tests += %D%/test_mutex_alloc
%C%_test_mutex_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_mutex_alloc_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_mutex_cost
%C%_test_mutex_cost_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_edges
%C%_test_mutex_edges_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_faults
%C%_test_mutex_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_mutex_faults_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_mutex_fork
%C%_test_mutex_fork_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_hold
%C%_test_mutex_hold_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_kinds
%C%_test_mutex_kinds_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_lag
%C%_test_mutex_lag_LDADD = libinject.a $(recipe_ldadd)
%C%_test_mutex_lag_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_mutex_numbers
%C%_test_mutex_numbers_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_parent
%C%_test_mutex_parent_LDADD = $(recipe_ldadd)
native_tests += %D%/test_mutex_session
%C%_test_mutex_session_LDADD = libinject.a $(recipe_ldadd)
%C%_test_mutex_session_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_mutex_threads
%C%_test_mutex_threads_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_names
%C%_test_names_LDADD = libinject.a $(LDADD)
%C%_test_names_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_node
integration_tests += %D%/test_participants
%C%_test_participants_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_prefix
%C%_test_prefix_LDADD = libinject.a $(LDADD)
%C%_test_prefix_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_retry_policy
%C%_test_retry_policy_LDADD = libinject.a $(LDADD)
%C%_test_retry_policy_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_rwlock
%C%_test_rwlock_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_rwlock_downgrade
%C%_test_rwlock_downgrade_LDADD = libinject.a $(recipe_ldadd)
%C%_test_rwlock_downgrade_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_rwlock_faults
%C%_test_rwlock_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_rwlock_faults_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_rwlock_order
%C%_test_rwlock_order_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_rwlock_outside
%C%_test_rwlock_outside_LDADD = $(recipe_ldadd)
native_tests += %D%/test_rwlock_session
%C%_test_rwlock_session_LDADD = libinject.a $(recipe_ldadd)
%C%_test_rwlock_session_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_rwlock_threads
%C%_test_rwlock_threads_LDADD = $(recipe_ldadd)
native_tests += %D%/test_session
integration_tests += %D%/test_unknown
%C%_test_unknown_LDADD = libinject.a $(LDADD)
%C%_test_unknown_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_watch
integration_tests += %D%/test_zk_mt
integration_tests += %D%/test_zk_mt_steer
