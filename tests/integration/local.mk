# Tests against a real server.  Each exits with 77 (skipped) where no server can
# be started.  Each has one line here.
#
# Tests in native_tests are not run under valgrind.  It replaces the allocators,
# does not know all socket options, and is too slow to load a server or to meet
# deadlines.  Sizes mean nothing under it, and a forked child seems to leak the
# memory of its parent's threads.

check_LIBRARIES += libintegration.a
libintegration_a_SOURCES = \
	%D%/allocs.c %D%/allocs.h \
	%D%/barrier_fixture.c %D%/barrier_fixture.h \
	%D%/callback_gate.c %D%/callback_gate.h \
	%D%/client_fixture.c %D%/client_fixture.h \
	%D%/crew.c %D%/crew.h \
	%D%/deaf.c %D%/deaf.h \
	%D%/faults.c %D%/faults.h \
	%D%/latch_fixture.c %D%/latch_fixture.h \
	%D%/mutex_fixture.c %D%/mutex_fixture.h \
	%D%/mutex_pair.c %D%/mutex_pair.h \
	%D%/claim_fixture.c %D%/claim_fixture.h \
	%D%/queue_faults.c %D%/queue_faults.h \
	%D%/queue_fixture.c %D%/queue_fixture.h \
	%D%/queue_storm.c %D%/queue_storm.h \
	%D%/rwlock_fixture.c %D%/rwlock_fixture.h \
	%D%/selector_fixture.c %D%/selector_fixture.h \
	%D%/semaphore_fixture.c %D%/semaphore_fixture.h \
	%D%/simple_fixture.c %D%/simple_fixture.h \
	%D%/side.h

# Tests of a recipe are linked with the installed libraries only, and so cannot
# use anything internal.
recipe_ldadd = libintegration.a libinterop.a libsupport.a \
	$(all_libraries) $(CHECK_LIBS)

integration_tests += %D%/test_access
native_tests += %D%/test_alloc
%C%_test_alloc_LDADD = libinject.a $(LDADD)
%C%_test_alloc_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_barrier
%C%_test_barrier_LDADD = libinject.a $(recipe_ldadd)
%C%_test_barrier_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_barrier_alloc
%C%_test_barrier_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_barrier_alloc_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_callbacks
%C%_test_callbacks_LDADD = libinject.a $(LDADD)
%C%_test_callbacks_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_cancel_ops
integration_tests += %D%/test_close
integration_tests += %D%/test_closed
%C%_test_closed_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_connect
native_tests += %D%/test_cost
integration_tests += %D%/test_countdown_calls
%C%_test_countdown_calls_SOURCES = %D%/test_countdown_calls.c \
	%D%/countdown_fixture.c %D%/countdown_fixture.h
%C%_test_countdown_calls_LDADD = libinject.a $(recipe_ldadd)
%C%_test_countdown_calls_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_countdown_remove
%C%_test_countdown_remove_SOURCES = %D%/test_countdown_remove.c \
	%D%/countdown_fixture.c %D%/countdown_fixture.h
%C%_test_countdown_remove_LDADD = libinject.a $(recipe_ldadd)
%C%_test_countdown_remove_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_countdown
%C%_test_countdown_SOURCES = %D%/test_countdown.c \
	%D%/countdown_fixture.c %D%/countdown_fixture.h
%C%_test_countdown_LDADD = libinject.a $(recipe_ldadd)
%C%_test_countdown_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_crowd
%C%_test_crowd_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_dispatch_fd
if EMBEDDED
integration_tests += %D%/test_drive
endif
%C%_test_drive_LDADD = $(recipe_ldadd)
native_tests += %D%/test_every_call
%C%_test_every_call_SOURCES = %D%/test_every_call.c %D%/every_call.c \
	%D%/every_call.h %D%/every_free.c %D%/every_say.h
%C%_test_every_call_CPPFLAGS = $(AM_CPPFLAGS) \
	-DKUSTOS_MAPS='"$(abs_top_srcdir)/lib/kustos.map" $(recipe_maps:%=,"$(abs_top_srcdir)/%")'
%C%_test_every_call_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_failover
integration_tests += %D%/test_double_barrier
%C%_test_double_barrier_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_double_barrier_faults
%C%_test_double_barrier_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_double_barrier_faults_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_edges
integration_tests += %D%/test_farewell
%C%_test_farewell_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_flush
%C%_test_flush_LDADD = libinject.a $(recipe_ldadd)
%C%_test_flush_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_fork
native_tests += %D%/test_fronts
%C%_test_fronts_LDADD = libinject.a $(recipe_ldadd)
%C%_test_fronts_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_guaranteed
%C%_test_guaranteed_LDADD = libinject.a $(LDADD)
%C%_test_guaranteed_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_kick
integration_tests += %D%/test_lag
%C%_test_lag_LDADD = libinject.a $(LDADD)
%C%_test_lag_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_lanes
integration_tests += %D%/test_latch
%C%_test_latch_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_alloc
%C%_test_latch_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_latch_alloc_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_latch_callbacks
%C%_test_latch_callbacks_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_cost
%C%_test_latch_cost_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_latch_duties
%C%_test_latch_duties_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_latch_faults
%C%_test_latch_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_latch_faults_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_latch_one_node
%C%_test_latch_one_node_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_latch_refused
%C%_test_latch_refused_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_resume
%C%_test_latch_resume_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_resume_alloc
%C%_test_latch_resume_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_latch_resume_alloc_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_latch_resume_node
%C%_test_latch_resume_node_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_storm
%C%_test_latch_storm_LDADD = $(recipe_ldadd)
native_tests += %D%/test_latch_terms
%C%_test_latch_terms_LDADD = $(recipe_ldadd)
native_tests += %D%/test_late_wakes
%C%_test_late_wakes_LDADD = $(recipe_ldadd)
%C%_test_late_wakes_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_latch_tries
%C%_test_latch_tries_LDADD = libinject.a $(recipe_ldadd)
%C%_test_latch_tries_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_layout
%C%_test_layout_SOURCES = %D%/test_layout.c %D%/layout_shows.c \
	%D%/layout_shows.h %D%/layout_table.c %D%/layout_table.h
%C%_test_layout_CPPFLAGS = $(AM_CPPFLAGS) \
	-DLAYOUT_PAGE='"$(abs_top_srcdir)/doc/layout.md"'
%C%_test_layout_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_lease
%C%_test_lease_LDADD = libinject.a $(LDADD)
%C%_test_lease_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_limits
%C%_test_limits_LDADD = libinject.a $(LDADD)
%C%_test_limits_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_lockable
%C%_test_lockable_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_lockable_own
%C%_test_lockable_own_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_lockable_revoke
%C%_test_lockable_revoke_LDADD = $(recipe_ldadd)
native_tests += %D%/test_log
%C%_test_log_LDADD = libinject.a $(LDADD)
%C%_test_log_LDFLAGS = $(inject_ldflags)
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
integration_tests += %D%/test_mutex_follow
%C%_test_mutex_follow_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_hold
%C%_test_mutex_hold_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_kinds
%C%_test_mutex_kinds_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_lag
%C%_test_mutex_lag_LDADD = libinject.a $(recipe_ldadd)
%C%_test_mutex_lag_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_mutex_marks
%C%_test_mutex_marks_LDADD = $(recipe_ldadd)
native_tests += %D%/test_mutex_numbers
%C%_test_mutex_numbers_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_parent
%C%_test_mutex_parent_LDADD = $(recipe_ldadd)
native_tests += %D%/test_mutex_session
%C%_test_mutex_session_LDADD = libinject.a $(recipe_ldadd)
%C%_test_mutex_session_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_mutex_threads
%C%_test_mutex_threads_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_mutex_warned
%C%_test_mutex_warned_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_names
integration_tests += %D%/test_observe
%C%_test_observe_LDADD = $(recipe_ldadd)
%C%_test_names_LDADD = libinject.a $(LDADD)
%C%_test_names_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_node
native_tests += %D%/test_numbers
%C%_test_numbers_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_participants
%C%_test_participants_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_prefix
%C%_test_prefix_LDADD = libinject.a $(LDADD)
%C%_test_prefix_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_claim
%C%_test_claim_LDADD = $(recipe_ldadd)
native_tests += %D%/test_claim_alloc
%C%_test_claim_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_claim_alloc_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_claim_edges
%C%_test_claim_edges_LDADD = libinject.a $(recipe_ldadd)
%C%_test_claim_edges_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_claim_faults
%C%_test_claim_faults_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_claim_marker
%C%_test_claim_marker_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_claim_order
%C%_test_claim_order_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_claim_unfit
%C%_test_claim_unfit_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_consume
%C%_test_consume_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_consume_told
%C%_test_consume_told_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue
%C%_test_queue_LDADD = $(recipe_ldadd)
native_tests += %D%/test_queue_alloc
%C%_test_queue_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_queue_alloc_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_queue_faults
%C%_test_queue_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_queue_faults_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_queue_edges
%C%_test_queue_edges_LDADD = libinject.a $(recipe_ldadd)
%C%_test_queue_edges_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_queue_races
%C%_test_queue_races_LDADD = libinject.a $(recipe_ldadd)
%C%_test_queue_races_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_queue_remove
%C%_test_queue_remove_LDADD = libinject.a $(recipe_ldadd)
%C%_test_queue_remove_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_queue_kinds
%C%_test_queue_kinds_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue_quota
%C%_test_queue_quota_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue_behind
%C%_test_queue_behind_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue_count
%C%_test_queue_count_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue_order
%C%_test_queue_order_LDADD = libinject.a $(recipe_ldadd)
%C%_test_queue_order_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_queue_killed
%C%_test_queue_killed_LDADD = $(recipe_ldadd)
native_tests += %D%/test_queue_storm
%C%_test_queue_storm_LDADD = $(recipe_ldadd)
native_tests += %D%/test_queue_moves
%C%_test_queue_moves_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue_shared
%C%_test_queue_shared_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_queue_unheard
%C%_test_queue_unheard_LDADD = libinject.a $(LDADD)
%C%_test_queue_unheard_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_queue_waiters
integration_tests += %D%/test_queued
%C%_test_queued_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_reentry
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
integration_tests += %D%/test_selector
%C%_test_selector_LDADD = $(recipe_ldadd)
native_tests += %D%/test_selector_callbacks
%C%_test_selector_callbacks_LDADD = libinject.a $(recipe_ldadd)
%C%_test_selector_callbacks_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_selector_duties
%C%_test_selector_duties_LDADD = $(recipe_ldadd)
native_tests += %D%/test_selector_faults
%C%_test_selector_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_selector_faults_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_semaphore
%C%_test_semaphore_LDADD = $(recipe_ldadd)
native_tests += %D%/test_semaphore_alloc
%C%_test_semaphore_alloc_LDADD = libinject.a $(recipe_ldadd)
%C%_test_semaphore_alloc_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_semaphore_cost
%C%_test_semaphore_cost_LDADD = $(recipe_ldadd)
native_tests += %D%/test_semaphore_faults
%C%_test_semaphore_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_semaphore_faults_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_semaphore_lock
%C%_test_semaphore_lock_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_semaphore_max
%C%_test_semaphore_max_LDADD = $(recipe_ldadd)
native_tests += %D%/test_session
native_tests += %D%/test_shun
%C%_test_shun_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_sizes
integration_tests += %D%/test_simple
%C%_test_simple_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_simple_faults
%C%_test_simple_faults_LDADD = libinject.a $(recipe_ldadd)
%C%_test_simple_faults_LDFLAGS = $(inject_ldflags)
native_tests += %D%/test_simple_herd
%C%_test_simple_herd_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_simple_revoke
%C%_test_simple_revoke_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_stopped
%C%_test_stopped_LDADD = $(recipe_ldadd)
if HAVE_MT
integration_tests += %D%/test_two_libraries
endif
%C%_test_two_libraries_LDADD = $(LDADD) $(ZOOKEEPER_MT_LIBS)
integration_tests += %D%/test_undeletable
%C%_test_undeletable_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_unknown
%C%_test_unknown_LDADD = libinject.a $(LDADD)
%C%_test_unknown_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_unlock_waits
%C%_test_unlock_waits_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_unsent
%C%_test_unsent_LDADD = $(recipe_ldadd)
integration_tests += %D%/test_watch
integration_tests += %D%/test_zk_library
integration_tests += %D%/test_zk_send
%C%_test_zk_send_LDADD = libinject.a $(LDADD)
%C%_test_zk_send_LDFLAGS = $(inject_ldflags)
integration_tests += %D%/test_zk_steer
