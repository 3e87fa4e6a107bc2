/* receipt_impl.h - the internals of a receipt, for the receipt files. */
#ifndef KU_RECEIPT_IMPL_H
#define KU_RECEIPT_IMPL_H

#include "receipt.h"

/* receipt.c */

/* Between these two, owners' callbacks may call in: the next step is taken only
   when the receipt is left. */
void ku_receipt_enter(struct ku_receipt *r);
void ku_receipt_leave(struct ku_receipt *r);

/* The deed is decided: give it back to its owner. */
void ku_deed_finish(struct ku_deed *deed, enum kustos_err err,
	const struct ku_zk_reply *reply);

/* Send nothing for a moment: the server asked for that, or does not answer. */
void ku_receipt_pause(struct ku_receipt *r);

/* The receipt does not tell any more what was done: it has gone, or is still
   "there" and is deleted. */
void ku_receipt_lose(struct ku_receipt *r, bool there);

/* receipt_ask.c */

/* Answers were lost, and nothing is on its way: read the receipt, and decide
   the deeds that are KU_DEED_LOST. */
void ku_receipt_ask(struct ku_receipt *r);

/* receipt_fence.c */

/* Write what a receipt of this version says if nobody else has written to it,
   and return its length. */
int ku_receipt_stamp(const struct ku_receipt *r, int version,
	char out[KU_STAMP_SIZE]);

/* The receipt was read, or looked at.  Has nobody else written to it?  Were the
   versions used up that ku_receipt_fence() was called with? */
bool ku_receipt_is_ours(const struct ku_receipt *r,
	const struct ku_zk_reply *reply);
bool ku_receipt_is_fenced(const struct ku_receipt *r,
	const struct ku_zk_reply *reply);

/* Return the version after that of the last deed whose answer was lost. */
int ku_receipt_behind_lost(const struct ku_receipt *r);

/* Use up the versions from "from" up to, but not including, "to", in one
   transaction. */
void ku_receipt_fence(struct ku_receipt *r, int from, int to,
	ku_request_fn *fenced);

/* The fence was not applied.  Will the deeds be refused for the same reason, so
   that it can be left to them to report it?  They will not if one of them was
   done meanwhile, or if the receipt is gone. */
bool ku_receipt_fence_useless(const struct ku_zk_reply *reply);

/* receipt_sweep.c */

/* Delete receipts in the folder that were not used for a day.  "now_ms" is the
   time by the server's clock.  Nobody waits for it. */
void ku_receipt_sweep(struct kustos_client *client, const char *folder,
	int64_t now_ms);

#endif
