/*
 * rows.h - the rows that kustos top has printed.
 */
#ifndef TEST_ROWS_H
#define TEST_ROWS_H

/* Return the row of a path, which there has to be, in what was printed. */
const char *rows_find(const char *printed, const char *path);

/* Check that it is as said, and goes on with "rest"; and tells no rates. */
void rows_check(const char *printed, const char *path, const char *kind,
	int holds, int waits, const char *rest);

#endif
