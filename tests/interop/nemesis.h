/*
 * nemesis.h - an ensemble of three servers, each behind a proxy, in which one
 * thing after the other fails.
 */
#ifndef TEST_NEMESIS_H
#define TEST_NEMESIS_H

#include <stdbool.h>

struct nemesis;

/* Start the ensemble, with its proxies.  If that fails, the test fails.  With
   "lag" one more thing can fail: a follower falls behind, keeps what clients
   write there, and passes that on later.  In such an ensemble it takes longer
   until a leader is given up that was stopped. */
struct nemesis *nemesis_start(bool lag);

/* End all of it. */
void nemesis_free(struct nemesis *n);

/* Return "a,b,c": the addresses of the proxies. */
const char *nemesis_hosts(const struct nemesis *n);

/* Return the address of a server itself. */
const char *nemesis_server(const struct nemesis *n, int i);

/* Kill no server from now on: stop it instead. */
void nemesis_spare_servers(struct nemesis *n);

/* Let something fail, chosen with "seed": a server is killed or stopped, its
   connections are cut, refused, held back or swallowed, or cut in place of the
   reply to a request, or those of all servers.  Something that had failed
   before is mended first.  Returns what it was, as a word. */
const char *nemesis_strike(struct nemesis *n, unsigned *seed);

/* Mend what has failed.  Does not wait until a server answers. */
void nemesis_mend(struct nemesis *n);

/* Return whether the server runs.  It may still be starting. */
bool nemesis_runs(const struct nemesis *n, int i);

/* Wait until all servers are in service. */
void nemesis_settle(struct nemesis *n);

#endif
