/* fid_script.h - random requests, made from a seed. */
#ifndef SIM_FID_SCRIPT_H
#define SIM_FID_SCRIPT_H

#include "sched.h"
#include "zk.h"

#define FID_OPS_MAX 4

struct fid_script {
	struct sim_random random;
	int root; /* the scripts play below "/f<root>" */
	int made; /* sequential nodes that may be there */
};

/* One request; valid until the next call. */
const struct ku_zk_request *fid_request(struct fid_script *script);

/* The one that makes the root. */
const struct ku_zk_request *fid_root(struct fid_script *script);

#endif
