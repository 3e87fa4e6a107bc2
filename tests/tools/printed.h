/*
 * printed.h - read the figures in the JSON that kustos bench prints.
 */
#ifndef TEST_PRINTED_H
#define TEST_PRINTED_H

/* Return the number that follows the next "NAME": in "*at", and move "*at"
   there.  Fails the test if there is none. */
double printed_next(const char **at, const char *name);

/* Return the number that follows the first "NAME": in "text". */
double printed_first(const char *text, const char *name);

#endif
