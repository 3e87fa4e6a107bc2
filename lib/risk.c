/*
 * risk.c - a warning before the lease ends.
 *
 * As soon as an answer prolongs the lease, it is noted that the danger has
 * passed.  A later look might miss that: the process may be paused in between,
 * until the danger is back.
 */
#include "client.h"

static void set_told(struct ku_risk *risk, bool told)
{
	if (told != risk->told && told)
		risk->client->risks.told++;
	else if (told != risk->told)
		risk->client->risks.told--;
	risk->told = told;
}

static void look(struct ku_risk *risk)
{
	struct kustos_client *client = risk->client;
	int64_t now = ku_now(client);
	int64_t left = ku_lease_left(&client->session.lease, now);

	if (left > risk->before_ns) {
		set_told(risk, false);
		ku_set_timer(client, &risk->timer,
			now + left - risk->before_ns);
		return;
	}
	ku_timer_unset(&client->timers, &risk->timer);
	if (!risk->told)
		risk->fn(risk);
	set_told(risk, true);
}

static void due(struct ku_timer *timer)
{
	look((struct ku_risk *)timer);
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
	look(risk);
}

void ku_risk_stop(struct ku_risk *risk)
{
	struct kustos_client *client = risk->client;

	if (client == NULL)
		return;
	set_told(risk, false);
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
		look(r);
}
