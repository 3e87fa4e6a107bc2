/*
 * deaf.h - a client over the real library that can be made to miss the events
 * of its session from any moment on.  Only one in each test.
 */
#ifndef TEST_DEAF_H
#define TEST_DEAF_H

#include <kustos/client.h>

/* Open the client.  It receives its events at first. */
struct kustos_client *deaf_open(const char *hosts, int timeout_ms);

/* Lose the session's events on their way to the client, or deliver them
   again. */
void deaf_go(int yes);

/* Return how many were lost so far. */
int deaf_missed(void);

#endif
