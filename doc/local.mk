# Documents, manual pages and examples.  A page is one line, an example three.

dist_doc_DATA = README.md NEWS %D%/design.md %D%/hazards.md
EXTRA_DIST += %D%/packaging.md

man3_pages = \
	%D%/man/kustos_client.3 \
	%D%/man/kustos_election.3 \
	%D%/man/kustos_hold.3 \
	%D%/man/kustos_mutex.3 \
	%D%/man/kustos_node.3 \
	%D%/man/kustos_rwlock.3
dist_man_MANS = %D%/man/kustos.1 %D%/man/kustos.7 $(man3_pages)

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

# Examples are installed as text, and built and run by the tests.
exampledir = $(docdir)/examples
dist_example_DATA = %D%/examples/mutex.c %D%/examples/rwlock.c \
	%D%/examples/latch.c %D%/examples/kustos_lock.py

check_PROGRAMS += %D%/examples/mutex
%C%_examples_mutex_LDADD = libkustos-mutex.la libkustos.la
check_PROGRAMS += %D%/examples/rwlock
%C%_examples_rwlock_LDADD = libkustos-rwlock.la libkustos.la
check_PROGRAMS += %D%/examples/latch
%C%_examples_latch_LDADD = libkustos-election.la libkustos.la

doc_tests = tests/examples/check_mutex.sh tests/examples/check_rwlock.sh \
	tests/examples/check_latch.sh tests/examples/check_pages.sh
EXTRA_DIST += $(doc_tests)
TESTS += $(doc_tests)
