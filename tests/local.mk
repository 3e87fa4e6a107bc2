# Tests.  Each is a program of its own; its source is NAME.c, and it is one
# line in the local.mk of its folder.  They all find what they link with in
# LDADD: archives, of which a program takes only what it uses.

LDADD = libintegration.a libunit.a libsim.a libsupport.a libkustos_core.la $(CHECK_LIBS)

noinst_LIBRARIES =
check_LIBRARIES =
unit_tests =
bed_tests =
sim_tests =
integration_tests =
native_tests =

include tests/support/local.mk
include tests/sim/local.mk
include tests/unit/local.mk
include tests/integration/local.mk
include tests/recipe-form/local.mk
include tests/tools/local.mk
include tests/interop/local.mk

script_tests = tests/check_abi.sh tests/check_headers.sh
EXTRA_DIST += $(script_tests)
TESTS += $(script_tests) $(sim_scripts)

# These need libcheck; without it the scripts are all that is left.
if HAVE_CHECK
check_PROGRAMS += $(unit_tests) $(bed_tests) $(sim_tests) \
	$(integration_tests) $(native_tests)
TESTS += $(unit_tests) $(bed_tests) $(sim_tests) \
	$(integration_tests) $(native_tests)
else
check-local:
	@echo "note: libcheck was not found, so only the scripts were run"
endif

TEST_EXTENSIONS = .sh

# What the scripts look at, and what they look at it with.
AM_TESTS_ENVIRONMENT = \
	CC='$(CC)' CXX='$(CXX)' NM='$(NM)' AWK='$(AWK)' \
	core_headers='$(core_headers)' recipe_headers='$(recipe_headers)'; \
	export CC CXX NM AWK core_headers recipe_headers; \
	LSAN_OPTIONS=suppressions=$(abs_top_srcdir)/tests/lsan.supp; \
	export LSAN_OPTIONS; \
	$(sim_environment)

# Parts of the suite, for a short round or a slow build.
.PHONY: check-unit check-sim check-integration check-valgrind
check-unit:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(unit_tests)'
check-sim:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(sim_tests)'
check-integration:
	$(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(bed_tests) $(integration_tests) $(native_tests)'

# One pass under valgrind.  libcheck stretches its time limits; the exit code
# of a test that libcheck forked is a failure of that test.
valgrind_flags = -q --error-exitcode=99 --leak-check=full \
	--show-leak-kinds=definite --errors-for-leak-kinds=definite \
	--suppressions=$(abs_top_srcdir)/tests/valgrind.supp
EXTRA_DIST += tests/valgrind.supp tests/lsan.supp
check-valgrind:
	CK_TIMEOUT_MULTIPLIER=4 $(MAKE) $(AM_MAKEFLAGS) check \
		TESTS='$(integration_tests)' \
		LOG_COMPILER='$(LIBTOOL) --mode=execute valgrind' \
		AM_LOG_FLAGS='$(valgrind_flags)'
