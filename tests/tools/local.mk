# Tests of the command.  They run ./kustos; one line each, and the helper that
# starts it.  None under valgrind: what they test is another process.

check_LIBRARIES += libcli.a
libcli_a_SOURCES = %D%/cli.c %D%/cli.h

native_tests += %D%/test_lock
%C%_test_lock_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock_lost
%C%_test_lock_lost_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_lock_signals
%C%_test_lock_signals_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_ls_break
%C%_test_ls_break_LDADD = libcli.a $(LDADD)
native_tests += %D%/test_server
%C%_test_server_LDADD = libcli.a $(LDADD)

TESTS += %D%/check_man.sh
EXTRA_DIST += %D%/check_man.sh
