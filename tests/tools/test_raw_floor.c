/*
 * test_raw_floor.c - bench/raw_floor and bench/mt_floor do what they count.
 * The server tells how many nodes came and went, and how many writes that took.
 */
#include "cli.h"

#include "fixture.h"
#include "raw.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server may delete a folder meanwhile. */
#define STRAY_WRITES 8

struct style {
	const char *name;
	int sessions;
	bool is_node; /* the path is what comes and goes, not the folder of that */
	int unit;     /* so many are counted together */
	int writes;  /* for each unit */
	int changes; /* of the folder's children, for each unit */
	int before; /* writes that are not counted, but for those of sessions */
	int around; /* changes that are not counted */
	bool varies;  /* there may be more writes */
	bool library; /* it is mt_floor's, which has one session more */
};

/* What is left in the end goes with its session, as one change and no write.  A
   keeper comes as well, as one change and one write. */
static const struct style styles[] = {
	{ "one", 1, false, 1, 2, 2, 2 - 1, 2, false, false },
	{ "two", 1, false, 1, 2, 2, 2, 2, false, false },
	{ "bare", 1, false, 1, 2, 2, 2 - 1, 2, false, false },
	{ "pair", 1, false, 1, 4, 2, 4 - 2, 2, false, false },
	{ "line", 8, false, 1, 2, 2, 1 + 8, 2 * 8, false, false },
	{ "careful", 8, false, 1, 2, 2, 1 + 8, 2 * 8, false, false },
	{ "leases", 16, false, 1, 2, 2, 1 + 16, 2 * 16, false, false },
	{ "gate", 1, true, 1, 2, 2, 0, 0, false, false },
	/* Each client creates the folder, which one round has; "ready" is the
	   ninth child. */
	{ "step", 8, false, 1, 8 + 9 + 9, 1, 1, 0, false, false },
	/* The folder, the count, eight done nodes, and their deletion as a
	   whole. */
	{ "count", 1, true, 1, 1 + 1 + 8 + 1, 2, 0, 0, false, false },
	/* Queues: three folders, their keepers and a receipt are not
	   counted. */
	{ "deeds", 1, false, 1, 2, 2, 7, 2, false, false },
	{ "drain", 1, false, 1000, 4 + 16, 2000, 7, 2, false, false },
	{ "single", 1, false, 1000, 4 + 1000, 2000, 7, 2, false, false },
	{ "framed", 1, false, 2000, 8 + 32, 4000, 7, 2, false, false },
	{ "bulk", 1, false, 10000, 40 + 157, 20000, 7, 2, false, false },
	{ "claim", 1, false, 200, 1 + 400, 400, 7, 2, false, false },
	/* 200 transactions put and 4 * 79 take, if each of these is full. */
	{ "crowd", 8, false, 20000, 516, 40000, 4 * 8 + 3, 2, true, false },
	/* Of libzookeeper_mt: all of them create the folders of a queue; for
	   some this is twice what the same name has above.  A waiter leaves by
	   itself. */
	{ "bare", 1, false, 1, 2, 2, 7 - 1, 2, false, true },
	{ "line", 8, false, 1, 2, 2, 7 + 2 * 8, 2 * 8 + 2, false, true },
	{ "careful", 8, false, 1, 2, 2, 7 + 2 * 8, 2 * 8 + 2, false, true },
	{ "deeds", 1, false, 1, 2, 2, 7, 2, false, true },
};

static struct cli c;

/* Return the number that the server reports under that title ("srvr"). */
static uint64_t said_by_server(const char *title, int base)
{
	char text[4096];
	const char *at;

	ck_assert(
		fourletter(fixture_address(), "srvr", text, sizeof(text)) > 0);
	at = strstr(text, title);
	ck_assert_ptr_nonnull(at);
	return strtoull(at + strlen(title), NULL, base);
}

/* Return how many writes the server has carried out. */
static int64_t written(void)
{
	return (int64_t)(said_by_server("Zxid: ", 16) & UINT32_MAX);
}

/* Return how often children of a node were created or deleted. */
static int changed(struct raw *raw, const char *path)
{
	struct raw_stat stat = { 0 };

	ck_assert_int_eq(raw_do_exists(raw, path, &stat), 0);
	return stat.cversion;
}

/* Measure that on a server, and return the number of operations. */
static long long measured_on(const char *address, const struct style *style,
	const char *path, int ms)
{
	const char *const argv[] = { style->library ? "bench/mt_floor"
						    : "bench/raw_floor",
		address, NULL };
	char question[128];
	long long ops = -1;
	double us = -1;

	snprintf(question, sizeof(question), "%s %s %d %d 0 %d\n", style->name,
		path, style->sessions, style->sessions, ms);
	cli_start_argv(&c, argv);
	cli_type(&c, question);
	cli_eof(&c);
	ck_assert_int_eq(cli_end(&c), 0);
	ck_assert_msg(sscanf(c.out_text, "ops=%lld us=%lf", &ops, &us) == 2,
		"%s: %s", style->name, c.out_text);
	ck_assert(us > 0);
	return ops;
}

static long long measured(const struct style *style, const char *path)
{
	return measured_on(fixture_address(), style, path, 30);
}

START_TEST(it_does_what_it_counts)
{
	const struct style *s = &styles[_i];
	struct raw *raw = raw_open(fixture_address(), 30000);
	int64_t writes;
	long long units;
	char path[64];
	int changes;

	ck_assert_ptr_nonnull(raw);
	snprintf(path, sizeof(path), "/floor-%s%s", s->name,
		s->library ? "-mt" : "");
	if (!s->is_node) /* a folder that the server does not delete */
		ck_assert_int_eq(
			raw_do_create(raw, path, "", RAW_PERSISTENT, NULL, 0),
			0);
	changes = changed(raw, s->is_node ? "/" : path);
	writes = written();
	units = measured(s, path);
	writes = written() - writes - s->before -
		2 * (s->sessions + s->library);
	ck_assert(units >= s->unit && units % s->unit == 0);
	units /= s->unit;
	ck_assert_int_eq(changed(raw, s->is_node ? "/" : path) - changes,
		units * s->changes + s->around);
	ck_assert_int_ge(writes, units * s->writes);
	ck_assert(s->varies || writes <= units * s->writes + STRAY_WRITES);
	raw_close(raw);
}
END_TEST

/* The second of two lines; and the markers of claims. */
START_TEST(it_does_the_other_half_as_well)
{
	static const struct {
		struct style style;
		const char *folder;
	} halves[] = { { { .name = "pair", .sessions = 1 }, "/floor-second" },
		{ { .name = "claim", .sessions = 1 }, "/floor-locks" } };
	struct raw *raw = raw_open(fixture_address(), 30000);

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_create(raw, halves[_i].folder, "",
				 RAW_PERSISTENT, NULL, 0),
		0);
	ck_assert_int_eq(2 * measured(&halves[_i].style, "/floor") + 2,
		changed(raw, halves[_i].folder));
	raw_close(raw);
}
END_TEST

/* As many as doc/performance.md says for a turn of eight clients. */
START_TEST(the_careful_send_the_requests_of_kustos)
{
	const struct style careful = { .name = "careful",
		.sessions = 8,
		.library = _i };
	uint64_t received = said_by_server("Received: ", 10);
	double turns = (double)measured_on(fixture_address(), &careful,
		"/floor-care", 1000);

	received = said_by_server("Received: ", 10) - received;
	ck_assert_double_ge((double)received, 7 * turns);
	/* And the requests to open, to join the line and to close. */
	ck_assert_double_le((double)received, 7 * turns + 200);
}
END_TEST

/* All eight nodes come and go, and so does "ready". */
START_TEST(a_round_leaves_nothing_behind)
{
	const struct style step = { .name = "step", .sessions = 8 };
	struct raw_stat stat = { 0 };

	ck_assert(measured(&step, "/floor") > 0);
	ck_assert_int_eq(raw_exists(fixture_address(), "/floor/0", &stat), 0);
	ck_assert_int_eq(stat.cversion, 2 * (8 + 1));
	ck_assert_int_eq(stat.num_children, 0);
}
END_TEST

/* It checks a thousand times a second what it may delete. */
START_TEST(a_server_does_not_clear_away_what_is_in_use)
{
	struct server_options options = {
		.jvm = "-Dznode.container.checkIntervalMs=1"
	};
	struct server *server = server_start(&options);
	char path[64];

	ck_assert_ptr_nonnull(server);
	for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++) {
		if (styles[i].sessions > 1)
			continue;
		snprintf(path, sizeof(path), "/floor-%s%s", styles[i].name,
			styles[i].library ? "-mt" : "");
		measured_on(server_address(server), &styles[i], path, 300);
	}
	server_free(server);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("raw floor");
	TCase *t = fixture_case(s, "one server", 10);

	tcase_add_loop_test(t, it_does_what_it_counts, 0,
		(int)(sizeof(styles) / sizeof(*styles)));
	tcase_add_loop_test(t, it_does_the_other_half_as_well, 0, 2);
	tcase_add_loop_test(t, the_careful_send_the_requests_of_kustos, 0, 2);
	tcase_add_test(t, a_round_leaves_nothing_behind);
	tcase_add_test(t, a_server_does_not_clear_away_what_is_in_use);
	return fixture_main(s);
}
