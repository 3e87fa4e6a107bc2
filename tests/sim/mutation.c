/* mutation.c - bugs to switch on, to see that the rules find them. */
#include "sim_impl.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned bug; /* of the model; 0: a scenario has it, by name */
} known[] = {
	{ "model-sequence", MODEL_BUG_SEQUENCE },
	{ "model-watch-twice", MODEL_BUG_WATCH_TWICE },
	{ "model-lose-done", MODEL_BUG_LOSE_DONE },
	{ "model-reorder", MODEL_BUG_REORDER },
	{ "model-keep-ephemeral", MODEL_BUG_KEEP_EPHEMERAL },
	{ "model-watch-lost", MODEL_BUG_WATCH_LOST },
};

#define KNOWN ((int)(sizeof(known) / sizeof(known[0])))
#define CHOSEN_MAX 8

static const char *chosen[CHOSEN_MAX];
static int chosen_count;

bool sim_mutation_known(const char *name)
{
	int i;

	for (i = 0; i < KNOWN; i++) {
		if (strcmp(known[i].name, name) == 0)
			return true;
	}
	return false;
}

void sim_mutate(const char *name)
{
	if (name == NULL)
		chosen_count = 0;
	else if (chosen_count < CHOSEN_MAX)
		chosen[chosen_count++] = name;
}

bool sim_mutation(const char *name)
{
	int i;

	for (i = 0; i < chosen_count; i++) {
		if (strcmp(chosen[i], name) == 0)
			return true;
	}
	return false;
}

unsigned mutation_model_bugs(void)
{
	unsigned bugs = 0;
	int i;

	for (i = 0; i < KNOWN; i++) {
		if (known[i].bug != 0 && sim_mutation(known[i].name))
			bugs |= known[i].bug;
	}
	return bugs;
}
