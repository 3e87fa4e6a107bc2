/*
 * deaf.h - a client of the real library that does not hear of the session, from one
 * moment to another.  One to a test.
 */
#ifndef TEST_DEAF_H
#define TEST_DEAF_H

#include <kustos/client.h>

/* Open it; it hears. */
struct kustos_client *deaf_open(const char *hosts, int timeout_ms);

/* Have events of the session get lost on their way, or no more. */
void deaf_go(int yes);

/* Return how many were lost so far. */
int deaf_missed(void);

#endif
