/*
 * queue_faults.c - what tests of lost queue requests share.
 */
#include "queue_faults.h"
#include "inject.h"

void queue_put_unheard(struct kustos_queue *q, bool is_done, struct taken *put)
{
	struct kustos_new_item item = { .data = "b", .len = 1 };

	inject_frame(is_done ? INJECT_LOSE_REPLY : INJECT_FAIL_SEND,
		ZK_OP_MULTI, 1);
	check_err(kustos_queue_put_item_async(q, &item, KUSTOS_FOREVER, NULL,
			  queue_was_put, put),
		KUSTOS_OK);
}
