# Documents, manual pages and examples.  A new page is one word.  A new example is one
# word, and a line that says what it is linked with.  Examples are installed as text,
# and built by the tests.

dist_doc_DATA = README.md NEWS %D%/design.md %D%/hazards.md \
	%D%/guarantees.md %D%/layout.md %D%/migrating.md \
	%D%/performance.md %D%/performance-alone.svg \
	%D%/performance-line.svg %D%/performance-others.svg \
	%D%/performance-queues.svg %D%/performance-together.svg
EXTRA_DIST += %D%/packaging.md %D%/performance.json

man3_pages = \
	%D%/man/kustos_client.3 \
	%D%/man/kustos_hold.3 \
	%D%/man/kustos_lockable.3 \
	%D%/man/kustos_node.3

# Examples that are compiled, each as a program of its name.
compiled = %D%/examples/follow.c
dist_example_DATA =
%C%_examples_follow_LDADD = libkustos.la

# Of each recipe: its pages, its examples, and what these are linked with.
if WITH_MUTEX
man3_pages += %D%/man/kustos_mutex.3
compiled += %D%/examples/first.c %D%/examples/loop.c %D%/examples/mutex.c \
	%D%/examples/transfer.c
dist_example_DATA += %D%/examples/mutex.cc %D%/examples/kustos_lock.py
dist_examplecmake_DATA = %D%/examples/cmake/CMakeLists.txt
endif
%C%_examples_first_LDADD = libkustos-mutex.la libkustos.la
%C%_examples_loop_LDADD = libkustos-mutex.la libkustos.la
%C%_examples_mutex_LDADD = libkustos-mutex.la libkustos.la
%C%_examples_transfer_LDADD = libkustos-mutex.la libkustos.la

if WITH_RWLOCK
man3_pages += %D%/man/kustos_rwlock.3
compiled += %D%/examples/rwlock.c
endif
%C%_examples_rwlock_LDADD = libkustos-rwlock.la libkustos.la

if WITH_ELECTION
man3_pages += %D%/man/kustos_election.3 %D%/man/kustos_selector.3
compiled += %D%/examples/latch.c %D%/examples/resume.c %D%/examples/selector.c
endif
%C%_examples_latch_LDADD = libkustos-election.la libkustos.la
%C%_examples_resume_LDADD = libkustos-election.la libkustos.la
%C%_examples_selector_LDADD = libkustos-election.la libkustos.la

if WITH_SEMAPHORE
man3_pages += %D%/man/kustos_semaphore.3
compiled += %D%/examples/semaphore.c
endif
%C%_examples_semaphore_LDADD = libkustos-semaphore.la libkustos.la

if WITH_SIMPLE
man3_pages += %D%/man/kustos_simple.3
compiled += %D%/examples/simple.c
endif
%C%_examples_simple_LDADD = libkustos-simple.la libkustos.la

if WITH_BARRIER
man3_pages += %D%/man/kustos_barrier.3 %D%/man/kustos_countdown.3
compiled += %D%/examples/barrier.c %D%/examples/countdown.c \
	%D%/examples/gate.c
endif
%C%_examples_barrier_LDADD = libkustos-barrier.la libkustos.la
%C%_examples_countdown_LDADD = libkustos-barrier.la libkustos.la
%C%_examples_gate_LDADD = libkustos-barrier.la libkustos.la

if WITH_QUEUE
man3_pages += %D%/man/kustos_claim.3 %D%/man/kustos_queue.3
compiled += %D%/examples/consumer.c %D%/examples/queue.c \
	%D%/examples/worker.c
endif
%C%_examples_consumer_LDADD = libkustos-queue.la libkustos.la
%C%_examples_queue_LDADD = libkustos-queue.la libkustos.la
%C%_examples_worker_LDADD = libkustos-queue.la libkustos.la

check_PROGRAMS += $(compiled:.c=)

dist_man_MANS += %D%/man/kustos.7 %D%/man/kustos_cpp.7 $(man3_pages)
exampledir = $(docdir)/examples
examplecmakedir = $(exampledir)/cmake
dist_example_DATA += $(compiled)

# "man kustos_mutex_lock" finds the page that names it: a link for each name.
page_names = sed -n 's/^\.Nm \(kustos_[a-z_]*\).*/\1/p;/^\.Nd/q'
for_each_name = for page in $(man3_pages); do \
		for name in `$(page_names) $(srcdir)/$$page`; do \
		link=$(DESTDIR)$(man3dir)/$$name.3; rm -f "$$link";
install-data-hook:
	@$(for_each_name) \
		$(LN_S) "`basename $$page`" "$$link" || exit 1; done; done
uninstall-hook:
	@$(for_each_name) done; done

doc_tests = tests/examples/check_mutex.sh tests/examples/check_rwlock.sh \
	tests/examples/check_latch.sh tests/examples/check_selector.sh \
	tests/examples/check_resume.sh tests/examples/check_loop.sh \
	tests/examples/check_semaphore.sh tests/examples/check_simple.sh \
	tests/examples/check_transfer.sh tests/examples/check_barrier.sh \
	tests/examples/check_countdown.sh tests/examples/check_queue.sh \
	tests/examples/check_worker.sh tests/examples/check_gate.sh \
	tests/examples/check_consumer.sh
EXTRA_DIST += $(doc_tests) tests/examples/common.sh
if WITH_ALL
TESTS += $(doc_tests)
endif
