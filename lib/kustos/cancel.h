/*
 * kustos/cancel.h - end a wait from another thread.
 *
 * Every call that can wait for a server takes a cancel object beside its
 * deadline, except kustos_client_close() and an unlock with the option
 * "unlock_waits".  Firing the object ends all calls that were given it, now and
 * later, with KUSTOS_ECANCELED.  One object may serve any number of calls.  It
 * stays fired.
 *
 * Threads: every call is safe from any thread and from any Kustos callback,
 * except that the caller must ensure that no other call on a cancel object
 * overlaps or follows its destruction, and that no call that was given it is
 * still running.
 *
 * After fork() the child can only free its copy: firing it does nothing,
 * whether it has fired stays as it was, and calls that are given it return
 * KUSTOS_EFORKED.  For its own calls the child makes another object.
 */
#ifndef KUSTOS_CANCEL_H
#define KUSTOS_CANCEL_H

#include <kustos/base.h>

KUSTOS_BEGIN

struct kustos_cancel; /* opaque; lives from _create() to _destroy() */

/* Make a cancel object that has not fired and store it in "*out".  Returns
   KUSTOS_OK; KUSTOS_EINVAL if "out" is NULL; or KUSTOS_ENOMEM, which leaves
   "*out" alone. */
KUSTOS_API KUSTOS_CHECK enum kustos_err kustos_cancel_create(
	struct kustos_cancel **out);

/* Free "cancel".  NULL is allowed. */
KUSTOS_API void kustos_cancel_destroy(struct kustos_cancel *cancel);

/* End every wait that was given "cancel".  Never waits for the network.  NULL
   is allowed. */
KUSTOS_API void kustos_cancel_fire(struct kustos_cancel *cancel);

/* Return 1 if "cancel" has fired, else 0.  NULL has never fired. */
KUSTOS_API int kustos_cancel_fired(const struct kustos_cancel *cancel);

KUSTOS_END
#endif
