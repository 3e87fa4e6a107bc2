/*
 * rows.h - find and check rows in the output of kustos top.
 */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

/* Return the row of a path in what was printed; fails the test if there is
   none. */
const char *rows_find(const char *printed, const char *path);

/* Check that the row has this kind and these numbers, continues with "rest",
   and shows no rates. */
void rows_check(const char *printed, const char *path, const char *kind,
	int holds, int waits, const char *rest);

#endif
