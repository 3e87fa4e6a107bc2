/* fid_script.h - random requests, made from a seed. */
#ifndef SIM_FID_SCRIPT_H
#define SIM_FID_SCRIPT_H

#include "sched.h"
#include "zk.h"

#define FID_OPS_MAX 4

struct fid_script {
	struct sim_random random;
	int root; /* the script's nodes are below "/f<root>" */
	int made; /* number of sequential nodes that may exist */
};

/* Return the next request, which is valid until the next call. */
const struct ku_zk_request *fid_request(struct fid_script *script);

/* Return the request that creates the root. */
const struct ku_zk_request *fid_root(struct fid_script *script);

#endif
