/*
 * bench_options.c - the options of kustos bench.
 */
#include "bench.h"

#include <kustos/client.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_help[] =
	"Usage: kustos bench [OPTION]... [PATH]\n"
	"\n"
	"Measure how a lock or another recipe behaves under contention:\n"
	"grants in a second, waiting times, fairness, and cost.  Works below\n"
	"PATH, by default /kustos-bench, and removes what it has created.\n"
	"'kustos server -- kustos bench' runs it with a server of its own.\n"
	"\n"
	"  -r, --recipe NAME     mutex (the default), rwlock, semaphore,\n"
	"                        simple, latch or selector (elections), pair\n"
	"                        (two mutexes together), queue (items are\n"
	"                        taken and put back), claims (the same,\n"
	"                        claimed), barrier (a double one) or\n"
	"                        countdown (all meet in each round)\n"
	"  -c, --clients NUMBER[,NUMBER]...\n"
	"                        number of sessions; one run for each\n"
	"                        number; default 8\n"
	"  -t, --threads NUMBER  threads of each client; default 1\n"
	"  -p, --processes NUMBER\n"
	"                        processes to spread the clients over;\n"
	"                        default 1\n"
	"      --readers NUMBER  clients that read while the others write\n"
	"                        (rwlock); default half of them\n"
	"      --leases NUMBER   leases of the semaphore, default 5; items\n"
	"                        of the queue, default one for each thread\n"
	"      --hold MS[-MS]    how long a grant is held; default 0\n"
	"      --think MS[-MS]   pause before asking again; default 0\n"
	"      --rate NUMBER     open loop: this many requests a second for\n"
	"                        all together, at times drawn beforehand; a\n"
	"                        wait counts from when the request was due\n"
	"  -d, --duration SECONDS\n"
	"                        how long to measure; default 10\n"
	"      --warm-up SECONDS how long to run before; default 1\n"
	"      --seed NUMBER     of the random numbers; default 1\n"
	"      --fifo            no hand-over inside a process (mutex)\n"
	"      --kill-holder NUMBER\n"
	"                        kill this many holders, each with its\n"
	"                        process, and report when the next one was\n"
	"                        granted\n"
	"      --server-pid PID[,PID]...\n"
	"                        processes of the servers, if they run here:\n"
	"                        report the processor time they used\n"
	"      --json            print one JSON object\n"
	"      --csv             print comma-separated lines: for each run\n"
	"                        one for all clients, and one for each\n"
	"      --plot FILE       draw an SVG file with gnuplot; as\n"
	"                        characters if FILE is \"-\" or ends in .txt\n";

const char bench_codes[] =
	"Exit codes: 0; 122 if two held at once that must not, 123 if no\n"
	"server answers, 124 for another failure, 125 for a usage error.\n";

enum {
	OPT_READERS = TOOL_OPT_OWN,
	OPT_LEASES,
	OPT_HOLD,
	OPT_THINK,
	OPT_RATE,
	OPT_WARM_UP,
	OPT_SEED,
	OPT_FIFO,
	OPT_KILL,
	OPT_SERVER,
	OPT_CSV,
	OPT_PLOT
};

static const struct option long_options[] = {
	{ "recipe", required_argument, NULL, 'r' },
	{ "clients", required_argument, NULL, 'c' },
	{ "threads", required_argument, NULL, 't' },
	{ "processes", required_argument, NULL, 'p' },
	{ "readers", required_argument, NULL, OPT_READERS },
	{ "leases", required_argument, NULL, OPT_LEASES },
	{ "hold", required_argument, NULL, OPT_HOLD },
	{ "think", required_argument, NULL, OPT_THINK },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "duration", required_argument, NULL, 'd' },
	{ "warm-up", required_argument, NULL, OPT_WARM_UP },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "fifo", no_argument, NULL, OPT_FIFO },
	{ "kill-holder", required_argument, NULL, OPT_KILL },
	{ "server-pid", required_argument, NULL, OPT_SERVER },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "plot", required_argument, NULL, OPT_PLOT },
	TOOL_OPTION_JSON,
	TOOL_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

static const struct {
	const char *name;
	enum lock_kind kind;
} recipes[] = {
	{ "mutex", LOCK_MUTEX },
	{ "rwlock", LOCK_WRITE },
	{ "semaphore", LOCK_SEMAPHORE },
	{ "simple", LOCK_SIMPLE },
	{ "latch", LOCK_ELECTION },
	{ "selector", LOCK_SELECTOR },
	{ "pair", LOCK_PAIR },
	{ "queue", LOCK_QUEUE },
	{ "claims", LOCK_CLAIM },
	{ "barrier", LOCK_BARRIER },
	{ "countdown", LOCK_COUNTDOWN },
};

#define MOST_CLIENTS 10000
#define MOST_THREADS 1000
#define MOST_WORKERS 100000 /* threads of all clients */
#define MOST_LEASES 100000
#define MOST_KILLS 1000
#define MOST_PATH 64
#define MOST_MS 1e7
#define MOST_RATE 1e7	     /* starts in a second */
#define MOST_RUN_MS 86400000 /* a day */

static bool wrong(struct bench_options *o, const char *option, const char *what)
{
	o->tool.exit_code = tool_usage(&o->tool, "%s %s is not %s", option,
		optarg, what);
	return false;
}

static bool take_recipe(struct bench_options *o)
{
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++)
		if (strcmp(recipes[i].name, optarg) == 0) {
			o->recipe = recipes[i].name;
			o->form.kind = recipes[i].kind;
			return true;
		}
	return wrong(o, "--recipe",
		"mutex, rwlock, semaphore, simple, latch, selector, pair, "
		"queue, claims, barrier or countdown");
}

/* Read "1,2,3" into "list".  Returns how many there are, 0 if it is wrong. */
static int read_list(const char *text, int most, int *list, int size)
{
	char number[16];
	int count = 0;

	for (;; text++) {
		size_t len = strcspn(text, ",");

		if (len >= sizeof(number) || count == size)
			return 0;
		memcpy(number, text, len);
		number[len] = '\0';
		if (!tool_number(number, 1, &list[count]) ||
			list[count++] > most)
			return 0;
		text += len;
		if (*text == '\0')
			return count;
	}
}

static bool take_clients(struct bench_options *o)
{
	o->steps = read_list(optarg, MOST_CLIENTS, o->clients, BENCH_STEPS);
	return o->steps > 0 ||
		wrong(o, "--clients",
			"a number from 1 to 10000, or up to 16 of them");
}

static bool take_servers(struct bench_options *o, const char *text)
{
	int list[BENCH_SERVERS];

	o->server_count = read_list(text, INT32_MAX, list, BENCH_SERVERS);
	for (int i = 0; i < o->server_count; i++)
		o->servers[i] = list[i];
	return o->server_count > 0;
}

static bool read_ms(const char *text, char **end, int64_t *out_ns)
{
	double ms = strtod(text, end);

	if (*end == text || !(ms >= 0 && ms <= MOST_MS))
		return false;
	*out_ns = (int64_t)(ms * 1e6 + 0.5);
	return true;
}

/* "2", "0.5", or "1-3" */
static bool take_span(struct bench_options *o, const char *option,
	struct pace_span *span)
{
	char *end = NULL;
	bool good = read_ms(optarg, &end, &span->least_ns);

	span->most_ns = span->least_ns;
	if (good && *end == '-')
		good = read_ms(end + 1, &end, &span->most_ns);
	if (good && *end == '\0' && span->least_ns <= span->most_ns)
		return true;
	return wrong(o, option, "MS or MS-MS, in milliseconds");
}

static bool take_rate(struct bench_options *o)
{
	char *end;

	o->rate = strtod(optarg, &end);
	if (end != optarg && *end == '\0' && o->rate > 0 &&
		o->rate <= MOST_RATE)
		return true;
	return wrong(o, "--rate", "a number of starts in a second");
}

static bool take_seed(struct bench_options *o)
{
	char *end;

	errno = 0;
	o->seed = strtoull(optarg, &end, 0);
	if (end != optarg && *end == '\0' && errno == 0 && *optarg != '-')
		return true;
	return wrong(o, "--seed", "a whole number");
}

static bool take_load(struct bench_options *o, int option)
{
	switch (option) {
	case OPT_HOLD:
		return take_span(o, "--hold", &o->hold);
	case OPT_THINK:
		return take_span(o, "--think", &o->think);
	case OPT_RATE:
		return take_rate(o);
	case 'd':
		return tool_take_seconds(&o->tool, "--duration",
			&o->duration_ms);
	case OPT_WARM_UP:
		return tool_take_seconds(&o->tool, "--warm-up", &o->warm_up_ms);
	case OPT_SEED:
		return take_seed(o);
	case OPT_FIFO:
		o->form.fifo = true;
		return true;
	case OPT_KILL:
		return tool_take_number(&o->tool, "--kill-holder", 1,
			MOST_KILLS, &o->kills);
	case OPT_SERVER:
		return take_servers(o, optarg) ||
			wrong(o, "--server-pid", "PID or PID,PID");
	case OPT_CSV:
		o->csv = true;
		return true;
	case OPT_PLOT:
		o->plot = optarg;
		return true;
	default:
		return tool_common(&o->tool, option);
	}
}

static bool take_option(struct bench_options *o, int option)
{
	switch (option) {
	case 'r':
		return take_recipe(o);
	case 'c':
		return take_clients(o);
	case 't':
		return tool_take_number(&o->tool, "--threads", 1, MOST_THREADS,
			&o->threads);
	case 'p':
		return tool_take_number(&o->tool, "--processes", 1,
			MOST_CLIENTS, &o->processes);
	case OPT_READERS:
		return tool_take_number(&o->tool, "--readers", 0, MOST_CLIENTS,
			&o->readers);
	case OPT_LEASES:
		return tool_take_number(&o->tool, "--leases", 1, MOST_LEASES,
			&o->form.leases);
	default:
		return take_load(o, option);
	}
}

/* --- What does not go together ------------------------------------------- */

static int most_clients(const struct bench_options *o)
{
	int most = o->clients[0];

	for (int i = 1; i < o->steps; i++)
		if (o->clients[i] > most)
			most = o->clients[i];
	return most;
}

static int fewest_clients(const struct bench_options *o)
{
	int fewest = o->clients[0];

	for (int i = 1; i < o->steps; i++)
		if (o->clients[i] < fewest)
			fewest = o->clients[i];
	return fewest;
}

/* After a holder is killed the next one is granted when the session of the
   first expires, which takes up to half as long again as its timeout; and there
   has to be a next one. */
static int check_kills(const struct bench_options *o)
{
	int64_t least_ms = o->tool.session_ms * 3LL / 2 * o->kills;

	if (o->kills == 0)
		return TOOL_OK;
	if (bench_has_items(o) || bench_meets(o) ||
		(o->form.kind == LOCK_SEMAPHORE && o->form.leases != 1) ||
		(o->form.kind == LOCK_WRITE && o->readers >= fewest_clients(o)))
		return tool_usage(&o->tool,
			"--kill-holder is for what one can hold, not several");
	if (fewest_clients(o) < 2 || o->processes == 1)
		return tool_usage(&o->tool,
			"--kill-holder needs two --processes and --clients");
	if (o->duration_ms < least_ms)
		return tool_usage(&o->tool,
			"--kill-holder %d takes a --duration of %.1f or more, "
			"or a shorter --session-timeout",
			o->kills, (double)least_ms / 1000);
	return TOOL_OK;
}

/* Standard output can have one form only; and the processes that were named
   must be there. */
static int check_report(const struct bench_options *o)
{
	if (o->csv && o->tool.json)
		return tool_usage(&o->tool,
			"--csv and --json exclude each other");
	if (o->plot != NULL && strcmp(o->plot, "-") == 0 &&
		(o->csv || o->tool.json))
		return tool_usage(&o->tool,
			"--plot - prints where --csv and --json do");
	for (int i = 0; i < o->server_count; i++)
		if (kill(o->servers[i], 0) < 0 && errno == ESRCH)
			return tool_usage(&o->tool,
				"--server-pid %d is no process here",
				(int)o->servers[i]);
	return TOOL_OK;
}

static int check(const struct bench_options *o)
{
	enum lock_kind kind = o->form.kind;

	if (*o->path != '/' || strlen(o->path) > MOST_PATH)
		return tool_usage(&o->tool,
			"%s is not a path of ZooKeeper, or too long a one",
			o->path);
	if (o->duration_ms < 1 || o->duration_ms > MOST_RUN_MS)
		return tool_usage(&o->tool,
			"--duration is to be more than 0, and no more than a "
			"day");
	if (o->warm_up_ms > MOST_RUN_MS)
		return tool_usage(&o->tool,
			"--warm-up is to be no more than a day");
	if (most_clients(o) * o->threads > MOST_WORKERS)
		return tool_usage(&o->tool,
			"there are more than 100000 --threads of all "
			"--clients");
	if (o->processes > fewest_clients(o))
		return tool_usage(&o->tool,
			"there are more --processes than --clients");
	if (o->readers >= 0 && kind != LOCK_WRITE)
		return tool_usage(&o->tool, "--readers is for rwlock");
	if (o->readers > fewest_clients(o))
		return tool_usage(&o->tool,
			"there are more --readers than --clients");
	if (o->form.leases > 0 && !bench_takes_leases(o))
		return tool_usage(&o->tool,
			"--leases is for semaphore, queue and claims");
	if (o->form.fifo && kind != LOCK_MUTEX)
		return tool_usage(&o->tool, "--fifo is for mutex");
	if (o->rate > 0 && o->think.most_ns > 0)
		return tool_usage(&o->tool,
			"--think is for a closed loop, --rate for an open one");
	return check_kills(o);
}

/* "kustos server" names its processes beside $KUSTOS_HOSTS. */
static void take_environment(struct bench_options *o)
{
	const char *hosts = getenv("KUSTOS_HOSTS");
	const char *pids = getenv("KUSTOS_SERVER_PIDS");

	if (o->server_count == 0 && pids != NULL && hosts != NULL &&
		strcmp(o->tool.hosts, hosts) == 0)
		(void)take_servers(o, pids);
}

bool bench_parse(struct bench_options *o, int argc, char **argv)
{
	int option;

	memset(o, 0, sizeof(*o));
	tool_init(&o->tool, &tool_bench);
	o->path = "/kustos-bench";
	o->recipe = recipes[0].name;
	o->clients[0] = 8;
	o->steps = o->threads = 1;
	o->readers = -1;
	o->duration_ms = 10000;
	o->warm_up_ms = 1000;
	o->seed = 1;
	while ((option = getopt_long(argc, argv, "r:c:t:p:d:vh", long_options,
			NULL)) != -1)
		if (!take_option(o, option))
			return false;
	if (optind < argc)
		o->path = argv[optind++];
	o->tool.more_paths[0] = o->path;
	o->tool.exit_code = optind < argc
		? tool_usage(&o->tool, "more than one PATH")
		: check(o);
	if (o->tool.exit_code == TOOL_OK)
		o->tool.exit_code = check_report(o);
	take_environment(o);
	return o->tool.exit_code == TOOL_OK;
}
