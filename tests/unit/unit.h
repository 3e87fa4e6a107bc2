/*
 * unit.h - what every unit test program shares.
 */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>
#include <stdlib.h>

#define UNIT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Run "suite" and print one line for each test, unless the environment variable
   CK_VERBOSITY says otherwise.  Returns what main() returns. */
static inline int unit_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner,
		getenv("CK_VERBOSITY") != NULL ? CK_ENV : CK_VERBOSE);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif
