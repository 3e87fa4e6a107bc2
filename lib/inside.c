/* inside.c - which threads are inside the callbacks of an object. */

#include "client.h"
#include "inside.h"

void ku_inside_enter(struct kustos_client *client, struct ku_inside **all,
	struct ku_inside *self)
{
	self->thread = pthread_self();
	self->next = *all;
	*all = self;
	ku_unlock(client);
}

void ku_inside_leave(struct kustos_client *client, struct ku_inside **all,
	struct ku_inside *self)
{
	ku_lock(client);
	while (*all != self)
		all = &(*all)->next;
	*all = self->next;
	pthread_cond_broadcast(&client->state_changed);
}

static bool is_here(const struct ku_inside *one)
{
	return pthread_equal(one->thread, pthread_self());
}

bool ku_inside_here(const struct ku_inside *all)
{
	while (all != NULL && !is_here(all))
		all = all->next;
	return all != NULL;
}

static bool is_elsewhere(const struct ku_inside *all)
{
	while (all != NULL && is_here(all))
		all = all->next;
	return all != NULL;
}

void ku_inside_await(struct kustos_client *client, struct ku_inside *const *all)
{
	while (is_elsewhere(*all))
		ku_cond_wait(client, &client->state_changed, KUSTOS_FOREVER);
}
