/*
 * test_foreign.c - children of a line that are nobody's place do not disturb
 * anybody.
 */
#include "peer.h"

#include "integration/client_fixture.h"
#include "support/raw.h"
#include "turns.h"

#include <kustos/mutex.h>
#include <kustos/participant.h>

#include <stdio.h>
#include <string.h>

#define SESSION_MS 10000
#define LINE TURNS_LINE
#define PATIENCE kustos_after_ms(PATIENCE_MS)
#define TURNS 50

/* All libraries ignore these. */
static const char *const harmless[] = { "config", "README", "leader",
	"lease_holder", "_", "z", "member-0000000000", "queue-0000000000",
	NULL };

/* These sort before all other names, end in a number, or look like a place at
   first sight.  Curator would wait for some of them for ever. */
static const char *const nasty[] = { "0", "-", "0000000000", "-0000000000",
	"lock-", "zlock-", "lock-1", "lock-000000000", "lock-00000000000",
	"lock-000000000x", "lock--00000000001", "lock-+000000001",
	"lock- 000000001", "LOCK-0000000000", "__lock__", "__lock__1",
	"_c_-lock", "_c_", "x-1-", "x-", "x--0000000000", "%s%n", "\xc3\xa9",
	"lock-\xd9\xa1\xd9\xa1\xd9\xa1\xd9\xa1\xd9\xa1", NULL };

static const enum peer_kind kinds[] = { PEER_KUSTOS, PEER_CURATOR, PEER_KAZOO,
	PEER_KINDS };

static struct peer peers[PEER_COMMON];

/* Create all of them.  Returns how many there are. */
static size_t make_children(const char *const *names)
{
	struct raw *raw = raw_open(fixture_address(), SESSION_MS);
	char path[128];
	size_t n;

	ck_assert_ptr_nonnull(raw);
	for (n = 0; names[n] != NULL; n++) {
		snprintf(path, sizeof(path), LINE "/%s", names[n]);
		ck_assert_msg(raw_do_create(raw, path, "foreign",
				      RAW_PERSISTENT, NULL, 0) == 0,
			"cannot make \"%s\"", path);
	}
	raw_close(raw);
	return n;
}

START_TEST(U04_three_kinds_take_turns_among_foreign_children)
{
	struct turns plan[PEER_COMMON];
	struct spans spans = { 0 };
	size_t foreign;

	peers_start(peers, kinds, PEER_COMMON, SESSION_MS);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	foreign = make_children(harmless);
	for (int i = 0; i < PEER_COMMON; i++)
		plan[i] = (struct turns){ .turns = TURNS,
			.patience_ms = 60000,
			.percent = TURNS_MUTEX };
	turns_take(peers, plan, PEER_COMMON, &spans);
	ck_assert_int_eq(turns_counted(), PEER_COMMON * TURNS);
	ck_assert_uint_eq(spans_overlaps(&spans), 0);
	spans_free(&spans);
	line_await(LINE, (int)foreign);
	peers_end(peers, PEER_COMMON);
}
END_TEST

START_TEST(U04_names_that_look_like_a_place_do_not_disturb_ours)
{
	struct kustos_participants *p = NULL;
	struct kustos_client *client;
	struct kustos_mutex *mutex;
	struct kustos_hold *hold;
	size_t foreign;

	peer_start(&peers[0], PEER_KUSTOS, SESSION_MS);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	foreign = make_children(nasty) + make_children(harmless);
	client = client_connected(fixture_address(), SESSION_MS);
	ck_assert_int_eq(kustos_mutex_create(client, LINE, NULL, &mutex),
		KUSTOS_OK);
	ck_assert_int_eq(kustos_mutex_acquire(mutex, PATIENCE, NULL, &hold),
		KUSTOS_OK);
	peer_join(&peers[0], LINE, (int)foreign + 2);

	ck_assert_int_eq(kustos_participants(client, LINE, PATIENCE, NULL, &p),
		KUSTOS_OK);
	ck_assert_uint_eq(p->count, 2);
	ck_assert_uint_eq(p->foreign, foreign);
	ck_assert_int_eq(p->mixed, 0);
	ck_assert_str_eq(p->list[0]->path, kustos_hold_path(hold));
	kustos_participants_free(p);

	ck_assert(peer_silent(&peers[0]));
	ck_assert_int_eq(kustos_hold_release(hold), KUSTOS_OK);
	peer_hear_acquired(&peers[0], PEER_PATIENCE_MS);
	kustos_mutex_destroy(mutex);
	client_close(client);
	peers_end(peers, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("foreign");
	TCase *t = fixture_case(s, "foreign children", 60);

	tcase_add_test(t, U04_three_kinds_take_turns_among_foreign_children);
	tcase_add_test(t, U04_names_that_look_like_a_place_do_not_disturb_ours);
	return interop_main(s, kinds);
}
