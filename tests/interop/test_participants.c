/*
 * test_participants.c - each kind's list of holder and waiters has the
 * contenders of all kinds, in one order.
 */
#include "peer.h"

#include "integration/client_fixture.h"
#include "support/raw.h"
#include "tools/cli.h"

#include <kustos/participant.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_MS 10000
#define LINE "/line"
#define PATIENCE kustos_after_ms(PATIENCE_MS)
#define IN_LINE 4

/* Those in the line, and two that only list it. */
static const enum peer_kind kinds[] = { PEER_CURATOR, PEER_KUSTOS, PEER_KAZOO,
	PEER_CURATOR, PEER_CURATOR, PEER_KAZOO, PEER_KINDS };
#define PEERS ((int)(sizeof(kinds) / sizeof(*kinds)) - 1)

static const enum kustos_style styles[IN_LINE] = { KUSTOS_STYLE_CURATOR,
	KUSTOS_STYLE_CURATOR, KUSTOS_STYLE_LOCK, KUSTOS_STYLE_CURATOR };

static struct peer peers[PEERS];
static char data[IN_LINE][64]; /* data of their nodes on the server */

static void read_data(void)
{
	struct raw *raw = raw_open(fixture_address(), SESSION_MS);
	struct raw_names names;

	ck_assert_ptr_nonnull(raw);
	ck_assert_int_eq(raw_do_children(raw, LINE, &names), 0);
	ck_assert_int_eq(names.count, IN_LINE);
	for (int i = 0; i < IN_LINE; i++) {
		const char *name = names.names[i];
		long place = strtol(name + strlen(name) - 10, NULL, 10);
		char path[256];

		ck_assert_int_lt(place, IN_LINE);
		snprintf(path, sizeof(path), LINE "/%s", name);
		ck_assert_int_eq(raw_do_get(raw, path, data[place],
					 sizeof(data[place]), NULL),
			0);
	}
	raw_names_free(&names);
	raw_close(raw);
}

/* kazoo has the name that it was given.  The others have an address, but which
   one depends on the machine.  Curator has none where the machine's own name
   cannot be resolved. */
static void check_data(void)
{
	struct in6_addr address;

	for (int i = 0; i < IN_LINE; i++)
		if (kinds[i] == PEER_KAZOO)
			ck_assert_str_eq(data[i], "a-kazoo");
		else if (kinds[i] != PEER_CURATOR || data[i][0] != '\0')
			ck_assert_msg(inet_pton(AF_INET, data[i], &address) ==
						1 ||
					inet_pton(AF_INET6, data[i],
						&address) == 1,
				"%s says \"%s\"", peer_name(kinds[i]), data[i]);
}

static void queue_up(void)
{
	peers_start(peers, kinds, PEERS, SESSION_MS);
	for (int i = 0; i < IN_LINE; i++)
		peer_join(&peers[i], LINE, i + 1);
	peer_hear_acquired(&peers[0], PEER_PATIENCE_MS);
	read_data();
	check_data();
}

static struct kustos_participants *list_line(struct kustos_client *client)
{
	struct kustos_participants *p = NULL;

	ck_assert_int_eq(kustos_participants(client, LINE, PATIENCE, NULL, &p),
		KUSTOS_OK);
	return p;
}

/* Check that "p" is the line from its place "first" on. */
static void check_line(const struct kustos_participants *p, int first)
{
	ck_assert_uint_eq(p->count, (size_t)(IN_LINE - first));
	ck_assert_uint_eq(p->foreign, 0);
	ck_assert_int_eq(p->mixed, 0);
	for (size_t i = 0; i < p->count; i++) {
		const struct kustos_participant *one = p->list[i];
		size_t place = i + (size_t)first;

		ck_assert_int_eq(one->number, (int64_t)place);
		ck_assert_int_eq(one->style, styles[place]);
		ck_assert_int_eq(one->holds, i == 0);
		ck_assert_str_eq(one->data, data[place]);
		ck_assert_uint_eq(one->len, strlen(data[place]));
		ck_assert_int_eq(one->stat.ephemeral_owner,
			peers[place].session);
		ck_assert_int_gt(one->stat.czxid,
			i == 0 ? 0 : p->list[i - 1]->stat.czxid);
	}
}

START_TEST(ours_has_those_of_all_kinds_in_order)
{
	struct kustos_participants *p;
	struct kustos_client *client;

	queue_up();
	client = client_connected(fixture_address(), SESSION_MS);
	for (int i = 0; i < IN_LINE; i++) {
		p = list_line(client);
		check_line(p, i);
		kustos_participants_free(p);
		peer_do(&peers[i], "released", "release " LINE);
		line_await(LINE, IN_LINE - i - 1);
		if (i + 1 < IN_LINE)
			peer_hear_acquired(&peers[i + 1], PEER_PATIENCE_MS);
	}
	client_close(client);
}
END_TEST

/* Curator's list has the same nodes and data as ours. */
START_TEST(curators_has_the_same_nodes_in_the_same_order)
{
	struct kustos_participants *p;
	struct kustos_client *client;
	char all[PEER_REPLY];
	size_t len;

	queue_up();
	client = client_connected(fixture_address(), SESSION_MS);
	p = list_line(client);
	len = (size_t)snprintf(all, sizeof(all), "%zu", p->count);
	for (size_t i = 0; i < p->count; i++)
		len += (size_t)snprintf(all + len, sizeof(all) - len, " %s=%s",
			p->list[i]->path, (const char *)p->list[i]->data);
	kustos_participants_free(p);
	client_close(client);

	peer_do(&peers[IN_LINE], "4", "participants " LINE);
	ck_assert_str_eq(peers[IN_LINE].reply, all);
}
END_TEST

START_TEST(that_of_the_command_has_those_of_all_kinds_in_order)
{
	static struct cli ls;
	struct kustos_participants *p;
	struct kustos_client *client;
	const char *at;

	setenv("KUSTOS_HOSTS", fixture_address(), 1);
	queue_up();
	client = client_connected(fixture_address(), SESSION_MS);
	p = list_line(client);
	ck_assert_int_eq(cli_run(&ls, "ls", LINE), 0);
	cli_hears(&ls, LINE ": 1 holds, 3 wait\n");
	at = ls.out_text;
	for (size_t i = 0; i < p->count; i++) {
		char row[512];

		at = strstr(at, i == 0 ? "\nholds " : "\nwaits ");
		ck_assert_ptr_nonnull(at);
		snprintf(row, sizeof(row), "  %s  %s",
			strrchr(p->list[i]->path, '/') + 1,
			data[i][0] != '\0' ? data[i] : "-");
		at = strstr(at, row);
		ck_assert_msg(at != NULL, "not \"%s\" but: %s", row,
			ls.out_text);
	}
	kustos_participants_free(p);
	client_close(client);
}
END_TEST

START_TEST(kazoos_has_the_data_of_all_kinds_in_order)
{
	struct peer *observer = &peers[IN_LINE + 1];
	char all[PEER_REPLY];

	queue_up();
	snprintf(all, sizeof(all), "4 =%s =%s =%s =%s", data[0], data[1],
		data[2], data[3]);
	peer_do(observer, "4", "participants " LINE);
	ck_assert_str_eq(observer->reply, all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("participants");
	TCase *t = fixture_case(s, "three kinds", 60);

	tcase_add_test(t, ours_has_those_of_all_kinds_in_order);
	tcase_add_test(t, curators_has_the_same_nodes_in_the_same_order);
	tcase_add_test(t, that_of_the_command_has_those_of_all_kinds_in_order);
	tcase_add_test(t, kazoos_has_the_data_of_all_kinds_in_order);
	return interop_main(s, kinds);
}
