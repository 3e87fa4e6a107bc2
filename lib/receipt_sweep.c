/* receipt_sweep.c - delete receipts of programs that died, a day later. */

#include "receipt_impl.h"
#include "client.h"

#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 60 * 60 * 1000LL)

/* The most receipts that are looked at, from a random one on: a fleet has as
   many receipts as objects that look. */
#define SOME 100

struct sweep {
	struct kustos_client *client;
	char *folder;  /* as the program knows it */
	int64_t since; /* a receipt used after this stays */
	struct kustos_names *names;
	size_t next; /* the index of the next one to be looked at */
	size_t left; /* how many are left, including that one */
};

static void look(struct sweep *sweep);

static void sweep_free(struct sweep *sweep)
{
	kustos_names_free(sweep->names);
	free(sweep->folder);
	free(sweep);
}

/* Send a request about "path"; if that is not possible, the sweep ends. */
static void ask(struct sweep *sweep, enum ku_zk_kind kind, const char *path,
	ku_op_ended_fn *ended)
{
	struct ku_op *op;
	enum kustos_err err = path != NULL
		? ku_op_new(sweep->client, kind, path, 0, &op)
		: KUSTOS_ENOMEM;

	if (err == KUSTOS_OK)
		err = ku_op_start(&op, ended, sweep);
	if (err != KUSTOS_OK)
		sweep_free(sweep);
}

/* Delete a receipt by its version: a program that uses it just now changes
   that, and keeps it. */
static void delete_it(struct sweep *sweep, const struct ku_op *of)
{
	struct ku_op *op;
	const char *path = ku_program_path(sweep->client, of->path);

	if (ku_op_new(sweep->client, KU_ZK_DELETE, path, 0, &op) == KUSTOS_OK) {
		op->version = of->out_stat.version;
		(void)ku_op_start_unowned(op);
	}
}

static void looked(struct ku_op *op)
{
	struct sweep *sweep = op->owner;

	if (op->err == KUSTOS_OK && op->out_stat.mtime_ms < sweep->since)
		delete_it(sweep, op);
	ku_op_drop(op);
	look(sweep); /* ends if the client is closed: no operation can start */
}

static bool is_receipt(const char *name)
{
	size_t len = strlen(name);

	return len == KU_PROTECTION_LEN + strlen("receipt") &&
		strncmp(name, "_c_", 3) == 0 &&
		strcmp(name + KU_PROTECTION_LEN, "receipt") == 0;
}

/* Look at the next receipt, one at a time, as nobody waits for this. */
static void look(struct sweep *sweep)
{
	const struct kustos_names *names = sweep->names;
	const char *name = NULL;

	while (sweep->left > 0 && name == NULL) {
		sweep->left--;
		name = names->names[sweep->next++ % names->count];
		if (!is_receipt(name))
			name = NULL;
	}
	if (name == NULL) {
		sweep_free(sweep);
		return;
	}
	char *path = ku_path_child(sweep->folder, name);
	ask(sweep, KU_ZK_EXISTS, path, looked);
	free(path);
}

static void listed(struct ku_op *op)
{
	struct sweep *sweep = op->owner;
	bool found = op->err == KUSTOS_OK;

	sweep->names = op->out_names;
	op->out_names = NULL;
	ku_op_drop(op);
	if (!found) {
		sweep_free(sweep);
		return;
	}
	sweep->left = sweep->names->count;
	if (sweep->left > SOME) {
		sweep->next = (size_t)ku_random_below(&sweep->client->random,
			sweep->left);
		sweep->left = SOME;
	}
	look(sweep);
}

void ku_receipt_sweep(struct kustos_client *client, const char *folder,
	int64_t now_ms)
{
	struct sweep *sweep = calloc(1, sizeof(*sweep));

	if (sweep == NULL)
		return;
	sweep->client = client;
	sweep->since = now_ms - DAY_MS;
	sweep->folder = strdup(folder);
	ask(sweep, KU_ZK_CHILDREN, sweep->folder, listed);
}
