# The simulator.  A new file, or a new test, is one line.

check_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	%D%/api.c \
	%D%/apply.c \
	%D%/ask.c %D%/ask.h \
	%D%/barrier_actor.h %D%/barrier_figures.h \
	%D%/barrier_rules.c \
	%D%/bench.c %D%/bench.h \
	%D%/claim_actor.h %D%/claim_figures.h \
	%D%/claim_order.c \
	%D%/claim_robbed.c \
	%D%/claim_rules.c \
	%D%/client.c \
	%D%/client_actor.h \
	%D%/client_ops.c \
	%D%/client_rules.c \
	%D%/custody_bed.h \
	%D%/deliver.c \
	%D%/ending.c %D%/ending.h \
	%D%/fault.c \
	%D%/fiber.c %D%/fiber.h \
	%D%/fid_compare.c \
	%D%/fid_script.c %D%/fid_script.h \
	%D%/fid_world.c %D%/fid_world.h \
	%D%/figures.c %D%/figures.h \
	%D%/handle.h \
	%D%/latch_actor.h \
	%D%/latch_acts.c \
	%D%/latch_crash.c \
	%D%/latch_rules.c \
	%D%/late.c \
	%D%/ledger.c %D%/ledger.h \
	%D%/lock_seeds.h \
	%D%/lone.c %D%/lone.h \
	%D%/lone_late.c %D%/lone_late.h \
	%D%/lone_latch.c %D%/lone_latch.h \
	%D%/lone_line.c %D%/lone_line.h \
	%D%/lone_selector.c %D%/lone_selector.h \
	%D%/minimise.c \
	%D%/model.c %D%/model.h \
	%D%/model_impl.h \
	%D%/msg.c \
	%D%/muster_bed.h \
	%D%/mutation.c \
	%D%/mutex_actor.c %D%/mutex_actor.h \
	%D%/mutex_end.c \
	%D%/mutex_foreign.c \
	%D%/mutex_holds.c \
	%D%/mutex_line.c \
	%D%/mutex_order.c \
	%D%/mutex_recipe.c \
	%D%/mutex_rules.c \
	%D%/mutex_waits.c \
	%D%/nemesis.c \
	%D%/posts.c %D%/posts.h \
	%D%/queue_actor.h %D%/queue_figures.h \
	%D%/queue_rules.c \
	%D%/raw.c %D%/raw.h \
	%D%/raw_watch.c \
	%D%/return_bed.h \
	%D%/rw_recipe.c \
	%D%/scenario_barrier.c \
	%D%/scenario_claim.c \
	%D%/scenario_client.c \
	%D%/countdown_figures.h %D%/scenario_countdown.c \
	%D%/scenario_latch.c \
	%D%/scenario_lease.c \
	%D%/scenario_mutex.c \
	%D%/scenario_queue.c \
	%D%/scenario_raw.c \
	%D%/scenario_rwlock.c \
	%D%/scenario_selector.c \
	%D%/scenario_semaphore.c \
	%D%/scenario_together.c \
	%D%/scenarios.c \
	%D%/sched.c %D%/sched.h \
	%D%/seat_bed.h \
	%D%/seeds.h \
	%D%/selector_actor.h %D%/selector_figures.h \
	%D%/selector_rules.c \
	%D%/sem_actor.h \
	%D%/sem_foreign.c \
	%D%/sem_nodes.c \
	%D%/sem_rules.c \
	%D%/sem_turns.c \
	%D%/server.c \
	%D%/sessions.c \
	%D%/sim.c %D%/sim.h \
	%D%/sim_impl.h \
	%D%/simbench.c %D%/simbench.h \
	%D%/simple_recipe.c \
	%D%/stranger.c %D%/stranger.h \
	%D%/subject.c %D%/subject.h \
	%D%/together_figures.h \
	%D%/trace.c \
	%D%/tree.c %D%/tree.h \
	%D%/turn_slots.h \
	%D%/txn.c \
	%D%/ware.c %D%/ware.h \
	%D%/watches.c %D%/watches.h \
	%D%/wire.c

# The recipes, too: their own libraries are linked with the shared core.
libsim_a_SOURCES += $(libkustos_barrier_la_SOURCES)
libsim_a_SOURCES += $(libkustos_mutex_la_SOURCES)
libsim_a_SOURCES += $(libkustos_rwlock_la_SOURCES)
libsim_a_SOURCES += $(libkustos_semaphore_la_SOURCES)
libsim_a_SOURCES += $(libkustos_simple_la_SOURCES)
libsim_a_SOURCES += $(libkustos_election_la_SOURCES)
libsim_a_CPPFLAGS = $(AM_CPPFLAGS)

# The simulator as a command: tests/sim/sim --help.
check_PROGRAMS += %D%/sim
%C%_sim_SOURCES = %D%/main.c

sim_tests += %D%/test_ack
sim_tests += %D%/test_barrier
sim_tests += %D%/test_beaten
sim_tests += %D%/test_bids
sim_tests += %D%/test_beat
sim_tests += %D%/test_beside
sim_tests += %D%/test_brief
sim_tests += %D%/test_claim
sim_tests += %D%/test_client
sim_tests += %D%/test_countdown
sim_tests += %D%/test_countdown_late
sim_tests += %D%/test_custody
sim_tests += %D%/test_custody_guard
sim_tests += %D%/test_custody_waits
sim_tests += %D%/test_deeds
sim_tests += %D%/test_denied
sim_tests += %D%/test_desk
sim_tests += %D%/test_elections
sim_tests += %D%/test_errands
sim_tests += %D%/test_fence
sim_tests += %D%/test_footprint
sim_tests += %D%/test_forbidden
sim_tests += %D%/test_gate
sim_tests += %D%/test_gate_told
sim_tests += %D%/test_given_up
sim_tests += %D%/test_hand_over
sim_tests += %D%/test_hold_calls
sim_tests += %D%/test_hold_order
sim_tests += %D%/test_hold_thread
%C%_test_hold_thread_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=ku_cond_wait
sim_tests += %D%/test_latch
sim_tests += %D%/test_late
sim_tests += %D%/test_leader
%C%_test_leader_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=kustos_cancel_create \
	-Wl,--wrap=kustos_cancel_fire,--wrap=kustos_cancel_destroy \
	-Wl,--wrap=ku_candidate_resign
sim_tests += %D%/test_leases
sim_tests += %D%/test_lend
sim_tests += %D%/test_line
%C%_test_line_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_line_cost
sim_tests += %D%/test_line_limits
sim_tests += %D%/test_listener
sim_tests += %D%/test_look
sim_tests += %D%/test_lost
sim_tests += %D%/test_mirror
sim_tests += %D%/test_model
sim_tests += %D%/test_muster
sim_tests += %D%/test_muster_ends
sim_tests += %D%/test_muster_guard
sim_tests += %D%/test_muster_lost
sim_tests += %D%/test_muster_safety
sim_tests += %D%/test_muster_told
%C%_test_muster_told_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_mutex
sim_tests += %D%/test_never_taken
sim_tests += %D%/test_note
sim_tests += %D%/test_number
sim_tests += %D%/test_observe
%C%_test_observe_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_observers
%C%_test_observers_LDFLAGS = -Wl,--wrap=ku_wire_free
sim_tests += %D%/test_others
sim_tests += %D%/test_outage
sim_tests += %D%/test_parents
%C%_test_parents_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_participants
%C%_test_participants_LDFLAGS = $(fault_ldflags) -Wl,--wrap=ku_cond_wait
sim_tests += %D%/test_pause
sim_tests += %D%/test_pool
sim_tests += %D%/test_pool_limit
sim_tests += %D%/test_put
sim_tests += %D%/test_put_off
sim_tests += %D%/test_queue
sim_tests += %D%/test_receipt
sim_tests += %D%/test_receipt_end
sim_tests += %D%/test_refused
%C%_test_refused_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_reopen
sim_tests += %D%/test_resume
%C%_test_resume_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_resume_node
%C%_test_resume_node_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_return
%C%_test_return_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_return_lost
%C%_test_return_lost_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_risk
sim_tests += %D%/test_room
sim_tests += %D%/test_roomer
%C%_test_roomer_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=ku_wait_stay,--wrap=ku_cond_wait
sim_tests += %D%/test_round
sim_tests += %D%/test_round_trips
sim_tests += %D%/test_rwlock
sim_tests += %D%/test_searched
sim_tests += %D%/test_seat
sim_tests += %D%/test_seat_late
sim_tests += %D%/test_selector
sim_tests += %D%/test_semaphore
sim_tests += %D%/test_session
sim_tests += %D%/test_sim
sim_tests += %D%/test_short
%C%_test_short_LDFLAGS = $(fault_ldflags)
sim_tests += %D%/test_simple
sim_tests += %D%/test_stray
sim_tests += %D%/test_survey
sim_tests += %D%/test_take
sim_tests += %D%/test_together
sim_tests += %D%/test_tries
sim_tests += %D%/test_unheard
sim_tests += %D%/test_vigil
sim_tests += %D%/test_waiting
sim_tests += %D%/test_written_early

# The client survives the simulator, and old bugs put back into it do not.
sim_scripts = %D%/mutants.sh
EXTRA_DIST += $(sim_scripts) %D%/mutants.seeds
.PHONY: note-mutants
note-mutants: %D%/sim
	$(AM_TESTS_ENVIRONMENT) \
	srcdir='$(srcdir)' $(SHELL) $(srcdir)/%D%/mutants.sh note
sim_environment = \
	sim_cppflags='$(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS)' \
	sim_cflags='$(SANITIZE_CFLAGS) $(CFLAGS) -pthread' \
	sim_ldflags='$(LDFLAGS)' \
	sim_objects='%D%/main.$(OBJEXT) libsim.a' \
	sim_libs='.libs/libkustos_core.a $(ZOOKEEPER_LIBS) $(LIBS)'; \
	check_libs='libunit.a $(CHECK_LIBS)' fault_ldflags='$(fault_ldflags)'; \
	export sim_cppflags sim_cflags sim_ldflags sim_objects sim_libs \
		check_libs fault_ldflags;

# Against a real server.
integration_tests += %D%/fidelity
