/*
 * zk_lib.h - a handle of ZooKeeper's own client library, whichever of its two
 * builds it is: libzookeeper_mt, whose threads drive it (zk_mt.c), or
 * libzookeeper_st, which is driven (zk_st.c).
 *
 * Threads: a handle is used by one at a time, which has entered (zk.h).
 */
#ifndef KU_ZK_LIB_H
#define KU_ZK_LIB_H

#include "zk_call.h"

#include <zookeeper/zookeeper.h>

struct ku_zk_lib {
	zhandle_t *zh; /* constant after open() */
	ku_zk_event_fn *event;
	void *arg;
	bool authenticates; /* credentials were given */
	struct ku_zk_calls calls;
};

/* Open it as zk.h says, with all signals blocked in the threads it makes, if it
   makes any.  "watch" gets its session events, with "lib" as their context; the
   first may come before this returns. */
enum kustos_err ku_zk_lib_open(struct ku_zk_lib *lib,
	const struct ku_zk_open *params, watcher_fn watch);

/* Pass an event on; entered. */
void ku_zk_lib_tell(struct ku_zk_lib *lib, int type, int state,
	const char *path);

/* Return the address of the server that it is connected to, for which "peer" is
   room, or NULL. */
const struct sockaddr *ku_zk_lib_peer(zhandle_t *zh,
	struct sockaddr_storage *peer, socklen_t *len);

/* As in the table of zk.h. */
int ku_zk_lib_submit(struct ku_zk_lib *lib, const struct ku_zk_request *request,
	ku_zk_done_fn *done, void *arg);
int ku_zk_lib_add_auth(struct ku_zk_lib *lib, const char *scheme,
	const char *credentials, int len);
void ku_zk_lib_session(struct ku_zk_lib *lib, struct ku_zk_session *out);
void ku_zk_lib_steer(struct ku_zk_lib *lib, const char *addresses);
void ku_zk_lib_close(struct ku_zk_lib *lib);

#endif
