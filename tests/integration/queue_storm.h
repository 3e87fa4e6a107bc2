/*
 * queue_storm.h - random faults for tests that put and take many items
 * meanwhile: of connections, through the proxy of mutex_pair.h, and of the
 * server.
 */
#ifndef TEST_QUEUE_STORM_H
#define TEST_QUEUE_STORM_H

/* Return the number in the environment variable "name", or "usual" if it is not
   set. */
int storm_setting(const char *name, int usual);

void storm_pause_ms(int ms);

/* Cause one random fault, chosen with "seed".  Mostly a connection fails;
   sometimes for longer than a session timeout of "timeout_ms". */
void storm_strike(unsigned *seed, int timeout_ms);

#endif
