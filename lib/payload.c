/* payload.c - what a recipe stores in its nodes. */

#include "payload.h"
#include "recipe.h"

#include <stdlib.h>
#include <string.h>

enum kustos_err ku_payload_init(struct ku_payload *payload,
	struct kustos_client *client, const struct ku_payload_wish *wish)
{
	payload->data = payload->reason = NULL;
	payload->len = 0;
	if (wish->record) {
		if (wish->reason == NULL)
			return KUSTOS_OK;
		payload->reason = strdup(wish->reason);
		return payload->reason != NULL ? KUSTOS_OK : KUSTOS_ENOMEM;
	}
	if (wish->data == NULL && !wish->empty)
		return ku_recipe_data(client, &payload->data, &payload->len);
	payload->data = malloc(wish->len + 1);
	if (payload->data == NULL)
		return KUSTOS_ENOMEM;
	if (wish->data != NULL)
		memcpy(payload->data, wish->data, wish->len);
	payload->len = wish->len;
	return KUSTOS_OK;
}

void ku_payload_free(struct ku_payload *payload)
{
	free(payload->data);
	free(payload->reason);
}

enum kustos_err ku_payload_get(const struct ku_payload *payload,
	const char **data, size_t *len, char **record)
{
	enum kustos_err err = KUSTOS_OK;

	*record = NULL;
	*len = payload->len;
	if (payload->data == NULL)
		err = ku_recipe_record(payload->reason, record, len);
	*data = payload->data != NULL ? payload->data : *record;
	return err;
}
