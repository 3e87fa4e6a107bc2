/*
 * ensemble.h - three ZooKeeper servers on 127.0.0.1, .2 and .3.
 *
 * They differ in address and not only in port, because libzookeeper compares
 * servers by address alone.
 */
#ifndef TEST_ENSEMBLE_H
#define TEST_ENSEMBLE_H

#include "server.h"

#define ENSEMBLE_SIZE 3

struct ensemble;
struct proxy;

/* Start three and wait until all are in service.  With "lag", server 0 is a
   follower that reaches the leader through ensemble_lag().  Returns NULL,
   having said why on standard error, if they do not come up. */
struct ensemble *ensemble_start(const struct server_options *options, bool lag);

/* Kill them and remove all they had.  NULL is allowed. */
void ensemble_free(struct ensemble *e);

/* Return server "i", 0 to 2, which the ensemble keeps owning. */
struct server *ensemble_server(struct ensemble *e, int i);

/* Return "a,b,c": the addresses of all three. */
const char *ensemble_hosts(const struct ensemble *e);

/* Return the number of the server that says it leads, or -1. */
int ensemble_leader(struct ensemble *e);

/* Wait until one leads and at least "count" are in service.  Returns the
   leader's number, or -1 after "ms". */
int ensemble_wait(struct ensemble *e, int count, int ms);

/* Return the link from server 0 to the first leader, which is server 2; NULL
   without "lag".  While the link is on PROXY_HOLD, server 0 goes on serving old
   data. */
struct proxy *ensemble_lag(struct ensemble *e);

#endif
