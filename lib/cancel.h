/*
 * cancel.h - how a wait attaches itself to a cancel object.
 *
 * Lock order: a cancel object's mutex is taken before a client's, because
 * firing runs "fn" with the cancel object locked.  So attach and detach with
 * no client's mutex held.
 */
#ifndef KU_CANCEL_H
#define KU_CANCEL_H

#include <kustos/cancel.h>
#include <stdbool.h>

struct ku_cancel_link;
typedef void ku_cancel_fn(struct ku_cancel_link *link);

struct ku_cancel_link {		      /* a field of whatever waits */
	struct kustos_cancel *cancel; /* NULL = not attached */
	ku_cancel_fn *fn;
	struct ku_cancel_link *prev, *next;
};

/* Have "fn" called once, when "cancel" fires, on the thread that fires it.
   Returns false, and attaches nothing, if it has fired already, or if this is a
   child of the process that made it.  A NULL cancel is accepted and never
   fires. */
bool ku_cancel_attach(struct kustos_cancel *cancel, struct ku_cancel_link *link,
	ku_cancel_fn *fn);

/* Return why ku_cancel_attach() has returned false: KUSTOS_EFORKED or
   KUSTOS_ECANCELED. */
enum kustos_err ku_cancel_refusal(const struct kustos_cancel *cancel);

/* Take "link" off.  On return its function is not running and will not run.
   Harmless if it is not attached. */
void ku_cancel_detach(struct ku_cancel_link *link);

#endif
