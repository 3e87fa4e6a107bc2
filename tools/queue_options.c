/*
 * queue_options.c - the options of kustos queue, whose first word says what to
 * do.
 */
#include "queue.h"

#include <string.h>

enum {
	OPT_PRIORITY = TOOL_OPT_OWN,
	OPT_DELAY,
	OPT_ID,
	OPT_MAX_ITEMS,
	OPT_DELIVERIES,
	OPT_DEAD_LETTERS,
	OPT_LOCK_PATH,
	OPT_RECEIPTS,
	OPT_REQUEUE
};

static const struct option long_options[] = {
	{ "kind", required_argument, NULL, 'k' },
	{ "timeout", required_argument, NULL, 'w' },
	{ "count", required_argument, NULL, 'c' },
	{ "null", no_argument, NULL, 'z' },
	{ "priority", required_argument, NULL, OPT_PRIORITY },
	{ "delay", required_argument, NULL, OPT_DELAY },
	{ "id", required_argument, NULL, OPT_ID },
	{ "max-items", required_argument, NULL, OPT_MAX_ITEMS },
	{ "deliveries", required_argument, NULL, OPT_DELIVERIES },
	{ "dead-letters", required_argument, NULL, OPT_DEAD_LETTERS },
	{ "lock-path", required_argument, NULL, OPT_LOCK_PATH },
	{ "receipts", required_argument, NULL, OPT_RECEIPTS },
	{ "requeue", no_argument, NULL, OPT_REQUEUE },
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static bool wrong(struct queue_job *q, const char *option, const char * not )
{
	q->tool.exit_code = tool_usage(&q->tool, "%s %s is not %s", option,
		optarg, not );
	return false;
}

static bool take_kind(struct queue_job *q)
{
	q->has_kind = queue_kind_named(optarg, &q->kind);
	return q->has_kind ||
		wrong(q, "-k",
			"simple, framed, priority, delay, id, kazoo or "
			"kazoo-locking");
}

/* Does the verb take the options with this letter? */
static bool knows(struct queue_job *q, int letter, const char *option)
{
	if (strchr(q->verb->options, letter) != NULL)
		return true;
	q->tool.exit_code = tool_usage(&q->tool, "'%s' has no %s",
		q->verb->name, option);
	return false;
}

static bool take_own(struct queue_job *q, int option)
{
	switch (option) {
	case OPT_PRIORITY:
		return knows(q, QUEUE_WHEN, "--priority") &&
			tool_take_number(&q->tool, "--priority", INT32_MIN + 1,
				INT32_MAX, &q->priority);
	case OPT_DELAY:
		return knows(q, QUEUE_WHEN, "--delay") &&
			tool_take_seconds(&q->tool, "--delay", &q->delay_ms);
	case OPT_ID:
		q->id = optarg;
		return knows(q, QUEUE_WHEN, "--id");
	case OPT_MAX_ITEMS:
		return knows(q, QUEUE_MAX, "--max-items") &&
			tool_take_number(&q->tool, "--max-items", 1, INT32_MAX,
				&q->max_items);
	case OPT_DELIVERIES:
		return knows(q, QUEUE_CLAIM, "--deliveries") &&
			tool_take_number(&q->tool, "--deliveries", 1, INT32_MAX,
				&q->deliveries);
	case OPT_DEAD_LETTERS:
		q->dead_letters = optarg;
		return knows(q, QUEUE_CLAIM, "--dead-letters");
	case OPT_LOCK_PATH:
		q->lock_path = optarg;
		return knows(q, QUEUE_CLAIM, "--lock-path");
	case OPT_RECEIPTS:
		q->receipts = optarg;
		return knows(q, QUEUE_RECEIPT, "--receipts");
	case OPT_REQUEUE:
		q->requeue = true;
		return knows(q, QUEUE_REQUEUE, "--requeue");
	default:
		return tool_common(&q->tool, option);
	}
}

static bool take_option(struct queue_job *q, int option)
{
	switch (option) {
	case 'k':
		return take_kind(q);
	case 'w':
		return knows(q, QUEUE_WAIT, "-w") &&
			tool_take_seconds(&q->tool, "-w", &q->wait_ms);
	case 'c':
		return knows(q, QUEUE_COUNT, "-c") &&
			tool_take_number(&q->tool, "-c", 1, INT32_MAX,
				&q->count);
	case 'z':
		q->null = true;
		return knows(q, QUEUE_NULL, "-z");
	case TOOL_OPT_JSON:
		q->tool.json = true;
		return knows(q, QUEUE_JSON, "--json");
	default:
		return take_own(q, option);
	}
}

static bool take_options(struct queue_job *q, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "+k:w:c:zvh", long_options,
			NULL)) != -1)
		if (!take_option(q, option))
			return false;
	return true;
}

static bool is_kazoos(const struct queue_job *q)
{
	return q->kind == KUSTOS_QUEUE_KAZOO ||
		q->kind == KUSTOS_QUEUE_KAZOO_LOCKING;
}

static int check(const struct queue_job *q)
{
	if (q->job.path == NULL)
		return tool_usage(&q->tool, "no PATH given");
	if (q->verb->command && *q->job.argv == NULL)
		return tool_usage(&q->tool, "no COMMAND given");
	if (!q->verb->command && !q->verb->items && *q->job.argv != NULL)
		return tool_usage(&q->tool, "more than one PATH");
	if ((q->deliveries == 0) != (q->dead_letters == NULL))
		return tool_usage(&q->tool,
			"--deliveries and --dead-letters go together");
	if (q->requeue && q->deliveries > 0)
		return tool_usage(&q->tool,
			"--requeue makes a new item, whose deliveries count "
			"from 0: it does not go with --deliveries");
	if (q->verb->items && q->id == NULL && q->kind == KUSTOS_QUEUE_ID)
		return tool_usage(&q->tool, "items of -k id need an --id");
	if (q->id != NULL && q->kind != KUSTOS_QUEUE_ID)
		return tool_usage(&q->tool, "--id is for -k id");
	if (q->delay_ms != 0 && q->kind != KUSTOS_QUEUE_DELAY)
		return tool_usage(&q->tool, "--delay is for -k delay");
	if (q->priority != KUSTOS_PRIORITY_DEFAULT &&
		q->kind != KUSTOS_QUEUE_PRIORITY && !is_kazoos(q))
		return tool_usage(&q->tool,
			"--priority is for -k priority, kazoo and "
			"kazoo-locking");
	return TOOL_OK;
}

static const struct queue_verb *find(const struct queue_verb *verbs,
	const char *name)
{
	while (verbs->name != NULL && strcmp(verbs->name, name) != 0)
		verbs++;
	return verbs->name != NULL ? verbs : NULL;
}

bool queue_parse(struct queue_job *q, const struct queue_verb *verbs, int argc,
	char **argv)
{
	static const struct queue_verb help = { .options = "wczpmdsrj" };

	memset(q, 0, sizeof(*q));
	tool_init(&q->tool, &tool_queue);
	q->wait_ms = -1;
	q->priority = KUSTOS_PRIORITY_DEFAULT;
	q->job.tool = &q->tool;
	q->job.grace_ms = -1;
	q->verb = &help; /* until it is known */
	if (argc > 1 && argv[1][0] != '-') {
		q->verb = find(verbs, argv[1]);
		optind = 2;
	}
	if (q->verb == NULL) {
		q->tool.exit_code = tool_usage(&q->tool,
			"'%s' is not an action of kustos queue", argv[1]);
		return false;
	}
	if (!take_options(q, argc, argv))
		return false;
	if (q->verb == &help) {
		q->tool.exit_code = tool_usage(&q->tool, "no action given");
		return false;
	}
	if (optind < argc) {
		q->tool.paths = argv + optind;
		q->tool.path_count = 1;
		q->job.path = argv[optind++];
		tool_options_anew();
		if (!take_options(q, argc, argv))
			return false;
	}
	q->job.argv = argv + optind;
	q->tool.more_paths[0] = q->lock_path;
	q->tool.more_paths[1] = q->dead_letters;
	q->tool.more_paths[2] = q->receipts;
	q->tool.exit_code = check(q);
	return q->tool.exit_code == TOOL_OK;
}
