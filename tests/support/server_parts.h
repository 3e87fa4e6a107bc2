/*
 * server_parts.h - start a server in steps, for ensembles: first all the
 * servers get ports, then configurations, and then their processes are started.
 */
#ifndef TEST_SERVER_PARTS_H
#define TEST_SERVER_PARTS_H

#include "server.h"

/* A directory and a client port; nothing runs yet. */
struct server *server_prepare(const struct server_options *options);

/* Reserve one more port on its address; -1 if there is none. */
int server_port(struct server *server);

/* Write its configuration, with the lines of "peers" added, and its number
   in the ensemble.  "peers" is NULL for a server alone.  Returns 0 or -1. */
int server_configure(struct server *server, const char *peers, int id);

/* Start the process and return without waiting for it.  0 or -1. */
int server_launch(struct server *server);

/* Say on standard error that it did not come up, with its output. */
void server_complain(const struct server *server);

#endif
