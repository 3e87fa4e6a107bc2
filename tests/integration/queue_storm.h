/*
 * queue_storm.h - faults for tests in which much is put and taken while everything
 * fails: of connections, through the proxy of mutex_pair.h, and of the server.
 */
#ifndef TEST_QUEUE_STORM_H
#define TEST_QUEUE_STORM_H

/* Return the number in the environment's variable "name", or "usual". */
int storm_setting(const char *name, int usual);

void storm_pause_ms(int ms);

/* Let one thing fail, chosen by "seed": mostly a connection, at times for longer
   than a session of "timeout_ms". */
void storm_strike(unsigned *seed, int timeout_ms);

#endif
