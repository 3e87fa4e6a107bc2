/* simbench.c - how many requests a second the model serves. */
#include "simbench.h"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLIENTS 10
#define IN_FLIGHT 8
#define REQUESTS 500000
#define LEAST 200000 /* a second, on one core */

struct load {
	struct sched sched;
	struct model *model;
	struct sim_random random;
	uint64_t left;
	struct load_client {
		struct load *load;
		struct ku_zk *zk;
		int index;
		bool begun;
	} clients[CLIENTS];
};

static const struct kustos_acl anyone = { KUSTOS_PERM_ALL, "world", "anyone" };

static void send_one(struct load_client *client);

static void done(void *arg, const struct ku_zk_reply *reply)
{
	(void)reply;
	send_one(arg);
}

/* Send one of the requests that a lock sends, or a write, chosen at random. */
static void send_one(struct load_client *client)
{
	static const enum ku_zk_kind kinds[] = {
		KU_ZK_CREATE,
		KU_ZK_CHILDREN,
		KU_ZK_GET,
		KU_ZK_DELETE,
		KU_ZK_SET,
		KU_ZK_EXISTS,
	};
	struct load *load = client->load;
	uint64_t r = sim_random_next(&load->random);
	char path[64];
	struct ku_zk_request request = {
		.kind = kinds[r % 6],
		.path = path,
		.data = "127.0.0.1",
		.len = 9,
		.version = -1,
		.mode = KU_ZK_EPHEMERAL,
		.watch = r >> 40 & 1,
		.acl = &anyone,
		.acl_count = 1,
	};

	if (load->left == 0)
		return;
	load->left--;
	snprintf(path, sizeof(path), "/locks/a-lock-%02u-%010u",
		(unsigned)client->index, (unsigned)(r >> 8) % 4);
	if (request.kind == KU_ZK_CHILDREN)
		strcpy(path, "/locks");
	(void)ku_zk_sim.submit(client->zk, &request, done, client);
}

static void on_event(void *arg, enum ku_zk_event event, enum ku_zk_state state,
	const char *path)
{
	struct load_client *client = arg;
	struct ku_zk_request parent = {
		.kind = KU_ZK_CREATE,
		.path = "/locks",
		.len = -1,
		.acl = &anyone,
		.acl_count = 1,
	};
	int i;

	(void)path;
	if (event != KU_ZK_EVENT_SESSION || client->begun ||
		state != KU_ZK_STATE_CONNECTED)
		return;
	client->begun = true;
	(void)ku_zk_sim.submit(client->zk, &parent, done, client);
	for (i = 1; i < IN_FLIGHT; i++)
		send_one(client);
}

static bool measure(int servers)
{
	struct model_config config;
	struct load load;
	struct ku_zk_open open = { .timeout_ms = 10000, .event = on_event };
	clock_t begin;
	double seconds;
	int i;

	memset(&load, 0, sizeof(load));
	model_config_init(&config);
	config.servers = servers;
	config.clients = CLIENTS;
	sched_init(&load.sched, CLIENTS);
	load.model = model_create(&load.sched, &config);
	load.left = REQUESTS;
	for (i = 0; i < CLIENTS; i++) {
		load.clients[i].load = &load;
		load.clients[i].index = i;
		open.addresses = model_addresses(load.model);
		open.arg = &load.clients[i];
		(void)ku_zk_sim.open(model_client(load.model, i), &open,
			&load.clients[i].zk);
	}
	begin = clock();
	while (load.left > 0 && sched_run(&load.sched))
		;
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	printf("%d server%s, %d clients, %d requests each in flight: "
	       "%.0f requests/s (%llu watch events)\n",
		servers, servers == 1 ? "" : "s", CLIENTS, IN_FLIGHT,
		REQUESTS / seconds,
		(unsigned long long)model_figures(load.model)->events);
	model_free(load.model);
	sched_free(&load.sched);
	return REQUESTS / seconds >= LEAST;
}

static bool measure_scenario(const char *name)
{
	struct sim_options options = { .seed = 1, .steps = 500000 };
	struct sim_result result;
	clock_t begin = clock();
	double seconds;

	sim_run(sim_find_scenario(name), &options, &result);
	seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
	printf("scenario %s, with invariants: %.0f requests/s, %.0f steps/s\n",
		name, (double)result.requests / seconds,
		(double)result.step / seconds);
	free(result.trace);
	return (double)result.requests / seconds >= LEAST;
}

int simbench(void)
{
	bool fast = measure(1);

	fast &= measure(3);
	fast &= measure_scenario("raw");
	return fast ? EXIT_SUCCESS : EXIT_FAILURE;
}
