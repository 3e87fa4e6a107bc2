/* every_free.c - every public call that frees something, once. */
#include "every_say.h"

static void free_results(void)
{
	ENDS(kustos_names_free(NULL));
	ENDS(kustos_free(NULL));
	ENDS(kustos_participants_free(NULL));
	ENDS(kustos_item_free(NULL));
	ENDS(kustos_countdown_status_free(NULL));
}

/* Destroy all but the holds, the client and the cancel object. */
static void destroy_objects(const struct every *on)
{
	ENDS(kustos_consumer_stop(on->worker));
	ENDS(kustos_consumer_stop(on->taker));
	ENDS(kustos_claim_release(on->claim));
	ENDS(kustos_claims_destroy(on->claims));
	ENDS(kustos_queue_destroy(on->queue));
	ENDS(kustos_observer_destroy(on->observer));
	ENDS(kustos_countdown_destroy(on->countdown));
	ENDS(kustos_double_barrier_destroy(on->member));
	ENDS(kustos_barrier_destroy(on->barrier));
	ENDS(kustos_selector_close(on->selector));
	ENDS(kustos_selector_destroy(on->selector));
	ENDS(kustos_latch_close(on->latch, KUSTOS_CLOSE_NOTIFY));
	ENDS(kustos_latch_destroy(on->latch));
	ENDS(kustos_latch_destroy(on->second));
	ENDS(kustos_simple_destroy(on->simple));
	ENDS(kustos_semaphore_mutex_destroy(on->sem_mutex));
	ENDS(kustos_semaphore_destroy(on->sem));
	ENDS(kustos_rwlock_destroy(on->rw));
	ENDS(kustos_mutex_destroy(on->mutex));
	ENDS(kustos_client_unlisten(on->client, on->listener));
}

int every_free(const struct every *on, enum kustos_err err)
{
	int64_t linger_ms;

	SAYS(err, kustos_hold_release(on->all));
	SAYS(err, kustos_hold_release(on->hold));
	SAYS(err, kustos_hold_release(on->writer));
	SAYS(err, kustos_hold_release(on->lease));
	SAYS(err, kustos_hold_release(on->lock));
	destroy_objects(on);
	if (err == KUSTOS_EFORKED)
		destroy_objects(on); /* the first time has freed none */
	SAYS(err, kustos_client_close(on->client, KUSTOS_FOREVER, &linger_ms));
	ENDS(kustos_cancel_destroy(on->cancel));
	free_results();
	return every_wrong();
}
