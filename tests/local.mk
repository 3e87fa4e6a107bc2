# Tests.  Each is a program of its own; its source is NAME.c, and it is one
# line in the local.mk of its folder.  They all find what they link with in
# LDADD: archives, of which a program takes only what it uses.

LDADD = libbench.a libintegration.a libunit.a libsim.a libsupport.a libkustos_core.la \
	$(CHECK_LIBS) $(TEST_LIBS)

check_LIBRARIES =
unit_tests =
bed_tests =
sim_tests =
integration_tests =
native_tests =

# The tests that take longest come first, so that "make -j8 check" ends sooner: most
# tests wait most of the time.  All but the scripts need libcheck.
TESTS += $(sim_scripts)
if HAVE_CHECK
if WITH_ALL
check_PROGRAMS += $(native_tests) $(integration_tests)
TESTS += $(native_tests) $(integration_tests)
endif
check_PROGRAMS += $(bed_tests) $(sim_tests) $(unit_tests)
TESTS += $(bed_tests) $(sim_tests) $(unit_tests)
else
check-local:
	@echo "note: libcheck was not found, so only the scripts were run"
endif

include tests/support/local.mk
include tests/sim/local.mk
include tests/unit/local.mk
include tests/integration/local.mk
include tests/recipe-form/local.mk
include tests/tools/local.mk
include tests/interop/local.mk
include tests/cpp/local.mk

tree_tests = tests/check_abi.sh tests/check_configure.sh \
	tests/check_guarantees.sh tests/check_kept_abi.sh \
	tests/check_lint.sh tests/check_linking.sh tests/check_packages.sh \
	tests/check_quickstart.sh \
	tests/examples/check_samples.sh tests/examples/check_pages.sh
script_tests = $(tree_tests) tests/check_headers.sh \
	tests/check_performance.sh
EXTRA_DIST += $(script_tests) tests/complain.sh tests/installed.sh \
	tests/abi/private \
	tests/abi/libkustos.abi $(all_recipes:%=tests/abi/libkustos-%.abi)
TESTS += $(script_tests)

TEST_EXTENSIONS = .sh

# What "make install" makes, for a test of that.  It is made before the tests run, and
# after all that is linked with the libraries: libtool links the libraries once more
# to install them, and they are not there while it does.
check_DATA += tests/installed.stamp
tests/installed.stamp: $(lib_LTLIBRARIES) $(kustosinclude_HEADERS) \
		$(pkgconfig_DATA) \
		| $(bin_PROGRAMS) $(noinst_PROGRAMS) $(check_PROGRAMS) \
		$(check_LTLIBRARIES)
	$(AM_V_GEN)rm -rf tests/installed && \
	$(MAKE) $(AM_MAKEFLAGS) install \
		DESTDIR=$(abs_builddir)/tests/installed \
		>tests/installed.out 2>&1 || \
		{ cat tests/installed.out; exit 1; }
	@touch $@
CLEANFILES += tests/installed.stamp tests/installed.out
clean-local:
	rm -rf tests/installed
installcheck-local:
	$(AM_TESTS_ENVIRONMENT) \
	srcdir='$(srcdir)' installed='$(DESTDIR)' \
		$(SHELL) $(srcdir)/tests/check_linking.sh

# What the libraries promise from now on: tests/check_kept_abi.sh.
.PHONY: keep-abi
keep-abi: all
	$(AM_TESTS_ENVIRONMENT) \
	srcdir='$(srcdir)' $(SHELL) $(srcdir)/tests/check_kept_abi.sh keep

# The environment of the tests: what the scripts look at, and the tools that they use;
# and how many seconds a test may take, on a busy machine, if it does not say itself.
AM_TESTS_ENVIRONMENT = \
	: "$${CK_DEFAULT_TIMEOUT=60}"; export CK_DEFAULT_TIMEOUT; \
	CC='$(CC)' CXX='$(CXX)' NM='$(NM)' AWK='$(AWK)' \
	core_headers='$(core_headers)' recipe_headers='$(recipe_headers)'; \
	export CC CXX NM AWK core_headers recipe_headers; \
	recipes='$(recipes)' libdir='$(libdir)' includedir='$(includedir)'; \
	pkgconfigdir='$(pkgconfigdir)' flags='$(SANITIZE_CFLAGS)'; \
	export recipes libdir includedir pkgconfigdir flags; \
	LSAN_OPTIONS=suppressions=$(abs_top_srcdir)/tests/lsan.supp; \
	TSAN_OPTIONS=suppressions=$(abs_top_srcdir)/tests/tsan.supp; \
	export LSAN_OPTIONS TSAN_OPTIONS; \
	$(sim_environment)

# Parts of the suite, for a short round or a slow build: nothing else is built.
real_tests = $(native_tests) $(integration_tests) $(bed_tests)
.PHONY: check-unit check-sim check-integration check-address check-threads \
	check-valgrind check-long
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(unit_tests)' check_PROGRAMS='$(unit_tests)' \
		check_DATA=
check-sim:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(sim_tests)' check_PROGRAMS='$(sim_tests)' check_DATA=
check-integration:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(real_tests)' check_PROGRAMS='$(real_tests)' check_DATA=

# For the address sanitizer, at each change: all tests that are quick, and of those
# with a real server the ones in which memory is most likely to be used when it is not
# there: a call ends while something is on its way, or an allocation fails.  (These
# come first here, too.)  Before a release the sanitizer gets all tests.
in = tests/integration
address_tests = $(in)/test_alloc $(in)/test_barrier_alloc \
	$(in)/test_callbacks $(in)/test_cancel_ops $(in)/test_claim_alloc \
	$(in)/test_claim_faults $(in)/test_close $(in)/test_consume \
	$(in)/test_consume_told $(in)/test_countdown_calls \
	$(in)/test_double_barrier_faults \
	$(in)/test_every_call $(in)/test_farewell $(in)/test_fork \
	$(in)/test_fronts \
	$(in)/test_latch_alloc $(in)/test_latch_callbacks \
	$(in)/test_latch_faults $(in)/test_layout $(in)/test_lockable \
	$(in)/test_mutex_alloc $(in)/test_mutex_faults $(in)/test_observe \
	$(in)/test_participants $(in)/test_queue_alloc \
	$(in)/test_queue_faults $(in)/test_rwlock_faults \
	$(in)/test_selector_callbacks $(in)/test_selector_faults \
	$(in)/test_semaphore_alloc $(in)/test_semaphore_faults \
	$(in)/test_simple_faults $(in)/test_sizes $(in)/test_watch \
	tests/tools/test_ls_break tests/tools/test_queue \
	tests/tools/test_queue_consume $(sim_tests) $(unit_tests)
check-address:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(address_tests)' check_PROGRAMS='$(address_tests)' \
		check_DATA=

# For the thread sanitizer: the tests in which most threads meet.  The sanitizer has a
# thread of its own: a test that counts threads begins with thread_count_before().  In
# the simulator only one thread runs at a time: of its tests there are those that start
# threads, and a few that show in which order locks are taken.
of_sim = tests/sim
thread_tests = $(in)/test_callbacks $(in)/test_cancel_ops \
	$(in)/test_claim_marker $(in)/test_close $(in)/test_consume \
	$(in)/test_consume_told $(in)/test_dispatch_fd $(in)/test_latch \
	$(in)/test_mutex_threads $(in)/test_queue_storm $(in)/test_queue_waiters \
	$(in)/test_reentry $(in)/test_rwlock_threads $(in)/test_selector \
	$(in)/test_semaphore $(in)/test_session $(of_sim)/test_barrier \
	$(of_sim)/test_countdown $(of_sim)/test_elections \
	$(of_sim)/test_gate $(of_sim)/test_gate_told $(of_sim)/test_leader \
	$(of_sim)/test_listener $(of_sim)/test_mutex $(of_sim)/test_queue \
	$(of_sim)/test_refused $(of_sim)/test_selector \
	tests/unit/test_cancel tests/unit/test_fairness \
	tests/unit/test_lookup tests/unit/test_zk_call
check-threads:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(thread_tests)' check_PROGRAMS='$(thread_tests)' \
		check_DATA=

# For "make distcheck", after all other tests have run: does the tarball have what the
# tests need?  Here are the scripts, which look for most of that, and one program of
# each kind.
tarball_programs = $(bed_tests) tests/unit/test_clock \
	$(of_sim)/test_simple $(of_sim)/fidelity tests/recipe-form/use_stub \
	tests/tools/test_server $(in)/test_node tests/interop/test_order
tarball_needs = $(compiled:.c=) tests/interop/peer
.PHONY: distcheck-quickly
distcheck-quickly:
	$(MAKE) $(AM_MAKEFLAGS) distcheck \
		TESTS='$(tarball_programs) $(tree_tests) $(doc_tests)' \
		check_PROGRAMS='$(tarball_programs) $(tarball_needs)' \
		AM_DISTCHECK_CONFIGURE_FLAGS='--disable-static CFLAGS=-O0'

# Before a release: the tests that prove something by many runs, with as many runs as
# are promised.  They measure time, and need a machine with nothing else to do.
long_tests = $(in)/test_crowd $(in)/test_failover $(in)/test_latch_terms \
	$(in)/test_lost_in_time $(in)/test_queue $(in)/test_queue_killed \
	$(in)/test_queue_shared $(in)/test_queue_storm
check-long:
	KUSTOS_TEST_RUNS=100 KUSTOS_TEST_ROUNDS=100 CK_TIMEOUT_MULTIPLIER=20 \
	CROWD_MEMBERS=50 CROWD_ROUNDS=200 QUEUE_STORMS=20 QUEUE_ITEMS=5000 \
	QUEUE_STRIKES=60 KILLED_STORMS=20 KILLED_ITEMS=5000 \
	KILLED_STRIKES=60 QUEUE_LENGTH=100000 QUEUE_SHARED=10000 \
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(long_tests)' check_PROGRAMS='$(long_tests)' check_DATA=
	$(MAKE) $(AM_MAKEFLAGS) check-soak

# One pass under valgrind.  All tests of a program run in one process (CK_FORK):
# each fork would have its code translated anew.  Hence the time limit here.  Valgrind
# replaces the C library's malloc(), but not that of the tests which have allocations
# fail.
valgrind_flags = -q --error-exitcode=99 --leak-check=full \
	--show-leak-kinds=definite --errors-for-leak-kinds=definite \
	--soname-synonyms=somalloc=nouserintercepts \
	--suppressions=$(abs_top_srcdir)/tests/valgrind.supp
EXTRA_DIST += tests/valgrind.supp tests/lsan.supp tests/tsan.supp
check-valgrind:
	CK_FORK=no $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(integration_tests)' \
		check_PROGRAMS='$(integration_tests)' check_DATA= \
		LOG_COMPILER='timeout 900 $(LIBTOOL) --mode=execute valgrind' \
		AM_LOG_FLAGS='$(valgrind_flags)'
