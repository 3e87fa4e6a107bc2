# The simulator.  A new file, or a new test, is one line.

check_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	%D%/api.c \
	%D%/apply.c \
	%D%/bench.c %D%/bench.h \
	%D%/client.c \
	%D%/client_actor.h \
	%D%/client_ops.c \
	%D%/client_rules.c \
	%D%/deliver.c \
	%D%/fault.c \
	%D%/fid_compare.c \
	%D%/fid_script.c %D%/fid_script.h \
	%D%/fid_world.c %D%/fid_world.h \
	%D%/handle.h \
	%D%/lock_seeds.h \
	%D%/minimise.c \
	%D%/model.c %D%/model.h \
	%D%/model_impl.h \
	%D%/msg.c \
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
	%D%/raw.c %D%/raw.h \
	%D%/raw_watch.c \
	%D%/real.c %D%/real.h \
	%D%/rw_recipe.c \
	%D%/scenario_client.c \
	%D%/scenario_mutex.c \
	%D%/scenario_raw.c \
	%D%/scenario_rwlock.c \
	%D%/scenarios.c \
	%D%/sched.c %D%/sched.h \
	%D%/seeds.h \
	%D%/server.c \
	%D%/sessions.c \
	%D%/sim.c %D%/sim.h \
	%D%/sim_impl.h \
	%D%/simbench.c %D%/simbench.h \
	%D%/trace.c \
	%D%/tree.c %D%/tree.h \
	%D%/txn.c \
	%D%/watches.c %D%/watches.h \
	%D%/wire.c

# The recipes, too: their own libraries are linked with the shared core.
libsim_a_SOURCES += $(libkustos_mutex_la_SOURCES)
libsim_a_SOURCES += $(libkustos_rwlock_la_SOURCES)
libsim_a_CPPFLAGS = $(AM_CPPFLAGS)

# The simulator as a command: tests/sim/sim --help.
check_PROGRAMS += %D%/sim
%C%_sim_SOURCES = %D%/main.c

sim_tests += %D%/test_client
sim_tests += %D%/test_model
sim_tests += %D%/test_mutex
sim_tests += %D%/test_rwlock
sim_tests += %D%/test_session
sim_tests += %D%/test_sim

# The client survives the simulator, and old bugs put back into it do not.
sim_scripts = %D%/mutants.sh
EXTRA_DIST += $(sim_scripts)
sim_environment = \
	sim_cppflags='$(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS)' \
	sim_cflags='$(SANITIZE_CFLAGS) $(CFLAGS) -pthread' \
	sim_ldflags='$(LDFLAGS)' \
	sim_objects='%D%/main.$(OBJEXT) libsim.a' \
	sim_libs='.libs/libkustos_core.a $(ZOOKEEPER_LIBS) $(LIBS)'; \
	export sim_cppflags sim_cflags sim_ldflags sim_objects sim_libs;

# Against a real server.
integration_tests += %D%/fidelity
