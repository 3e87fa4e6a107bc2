/*
 * risk.c - a warning before the lease ends.
 *
 * As soon as an answer prolongs the lease, it is noted that the danger has
 * passed.  A later look might miss that: the process may be paused in between,
 * until the danger is back.
 */
#include "client.h"

/* Of one that is watched: was its function called since more was last left? */
static bool is_told(const struct ku_risk *risk)
{
	return !ku_timer_is_set(&risk->timer);
}

/* "told": is_told(), before its timer was due. */
static void look(struct ku_risk *risk, bool told)
{
	struct kustos_client *client = risk->client;
	int64_t now = ku_now(client);
	int64_t left = ku_lease_left(&client->session.lease, now);

	client->risks.told -= told;
	if (left > risk->before_ns) {
		ku_set_timer(client, &risk->timer,
			now + left - risk->before_ns);
		return;
	}
	ku_timer_unset(&client->timers, &risk->timer);
	if (!told)
		risk->fn(risk);
	client->risks.told++;
}

static void due(struct ku_timer *timer)
{
	look((struct ku_risk *)timer, false);
}

void ku_risk_watch(struct kustos_client *client, struct ku_risk *risk,
	int64_t before_ns, ku_risk_fn *fn)
{
	struct ku_risks *risks = &client->risks;

	risk->client = client;
	risk->fn = fn;
	risk->before_ns = before_ns;
	risk->timer.fn = due;
	KU_LIST_PUSH(risks->first, risk);
	look(risk, false);
}

void ku_risk_stop(struct ku_risk *risk)
{
	struct kustos_client *client = risk->client;

	if (client == NULL)
		return;
	client->risks.told -= is_told(risk);
	ku_timer_unset(&client->timers, &risk->timer);
	KU_LIST_REMOVE(client->risks.first, risk);
	risk->client = NULL;
}

void ku_risks_prolonged(struct kustos_client *client)
{
	if (client->risks.told > 0)
		ku_risks_look(client);
}

/* The callbacks that are called here only make a note, so the list stays as it
   is. */
void ku_risks_look(struct kustos_client *client)
{
	for (struct ku_risk *r = client->risks.first; r != NULL; r = r->next)
		look(r, is_told(r));
}
