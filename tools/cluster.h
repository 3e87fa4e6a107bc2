/*
 * cluster.h - one ZooKeeper server or several, on loopback addresses.
 */
#ifndef KU_CLUSTER_H
#define KU_CLUSTER_H

#include <stdbool.h>
#include <sys/types.h>

#define CLUSTER_MAX 9

struct cluster;

struct cluster_options {
	int count;	  /* 1 to CLUSTER_MAX */
	int port;	  /* of all of them; 0: free ones */
	int tick_ms;	  /* 0: short, for tests */
	const char *data; /* keep what is stored in this folder; or NULL */
};

/* Start the servers and wait until all are in service.  Returns NULL, having
   printed why, if that fails.  However this process ends, nothing of them is
   left. */
struct cluster *cluster_start(const struct cluster_options *options);

/* End the servers and remove their temporary files. */
void cluster_free(struct cluster *c);

/* Return "ip:port,ip:port" of all servers; the same of one server; and the
   process of that one. */
const char *cluster_hosts(const struct cluster *c);
const char *cluster_address(const struct cluster *c, int i);
pid_t cluster_pid(const struct cluster *c, int i);

/* Return whether all its servers still run. */
bool cluster_runs(const struct cluster *c);

#endif
