/*
 * printed.h - the figures in what kustos bench has printed as JSON.
 */
#ifndef TEST_PRINTED_H
#define TEST_PRINTED_H

/* Return the number that follows the next "NAME": in "*at", which is moved to
   it.  There has to be one. */
double printed_next(const char **at, const char *name);

/* Return the number that follows the first "NAME": in "text". */
double printed_first(const char *text, const char *name);

#endif
