# Tests of the command.  They run ./kustos.  Each has one line here, and so has
# the helper that starts it.  None is run under valgrind, as what they test is
# another process.

check_LIBRARIES += libcli.a
libcli_a_SOURCES = %D%/cli.c %D%/cli.h

native_tests += %D%/test_auth
%C%_test_auth_SOURCES = %D%/test_auth.c %D%/rows.c %D%/rows.h
%C%_test_auth_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_barrier
%C%_test_barrier_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_bench
%C%_test_bench_SOURCES = %D%/test_bench.c %D%/printed.c %D%/printed.h \
	tools/json.c tools/json.h
%C%_test_bench_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_bench_lost
%C%_test_bench_lost_SOURCES = %D%/test_bench_lost.c %D%/printed.c \
	%D%/printed.h tools/json.c tools/json.h
%C%_test_bench_lost_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_bench_plot
%C%_test_bench_plot_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_chroot
%C%_test_chroot_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_demo
%C%_test_demo_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_elect
%C%_test_elect_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_guard
%C%_test_guard_SOURCES = %D%/test_guard.c tools/guard.c tools/guard.h
native_tests += %D%/test_latch
%C%_test_latch_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock
%C%_test_lock_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock_lost
%C%_test_lock_lost_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock_revoked
%C%_test_lock_revoked_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock_several
%C%_test_lock_several_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock_signals
%C%_test_lock_signals_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_ls_break
%C%_test_ls_break_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_ls_others
%C%_test_ls_others_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_queue
%C%_test_queue_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_queue_consume
%C%_test_queue_consume_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_queue_kinds
%C%_test_queue_kinds_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_queue_put
%C%_test_queue_put_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_raw_floor
%C%_test_raw_floor_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_semaphore
%C%_test_semaphore_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_server
%C%_test_server_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_signals
%C%_test_signals_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_streams
%C%_test_streams_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_top
%C%_test_top_SOURCES = %D%/test_top.c %D%/rows.c %D%/rows.h
%C%_test_top_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_top_peers
%C%_test_top_peers_SOURCES = %D%/test_top_peers.c %D%/rows.c %D%/rows.h
%C%_test_top_peers_LDADD = libcli.a $(LDADD)

if WITH_ALL
TESTS += %D%/check_completion.sh %D%/check_man.sh
endif
TESTS += %D%/check_facts.sh
EXTRA_DIST += %D%/check_completion.sh %D%/check_facts.sh %D%/check_man.sh
