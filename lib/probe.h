/*
 * probe.h - ask all servers at once whether they are in service.
 *
 * A probe connects, sends the four-letter word "srvr" and reads the answer,
 * without a thread and without blocking: the owner polls its descriptors.
 * Between rounds it has none.
 */
#ifndef KU_PROBE_H
#define KU_PROBE_H

#include <kustos/base.h>

#include <poll.h>

struct ku_addresses;

/* Servers beyond this many are not asked. */
#define KU_PROBE_MAX 32

enum ku_probe_verdict {
	KU_PROBE_UNKNOWN,     /* not asked, or not answered yet */
	KU_PROBE_LIVE,	      /* takes requests */
	KU_PROBE_NOT_SERVING, /* runs, but would not take us */
	KU_PROBE_REFUSED,     /* no connection can be made */
	KU_PROBE_SILENT	      /* nothing came in time */
};

struct ku_probe {
	int count;		  /* 0 between rounds */
	struct ku_probe_one *one; /* one for each address */
};

/* Begin a round.  "p" must be all zeros or stopped.  Returns KUSTOS_OK; or
   KUSTOS_ENOMEM, with "errno", if memory or descriptors are short.  A server
   that cannot be asked for want of a descriptor stays UNKNOWN; the others are
   asked all the same. */
enum kustos_err ku_probe_start(struct ku_probe *p,
	const struct ku_addresses *addresses);

/* Fill in what to poll for; at most KU_PROBE_MAX.  Returns how many. */
int ku_probe_poll(const struct ku_probe *p, struct pollfd *fds);

/* Take what poll() said about these, which need not be all. */
void ku_probe_step(struct ku_probe *p, const struct pollfd *fds, int count);

/* Return what is known about address "i". */
enum ku_probe_verdict ku_probe_verdict(const struct ku_probe *p, int i);

/* End the round, finished or not, and close everything. */
void ku_probe_stop(struct ku_probe *p);

#endif
