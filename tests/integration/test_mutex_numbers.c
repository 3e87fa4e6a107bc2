/*
 * test_mutex_numbers.c - a line whose sequence numbers run out.  The test sets
 * the counter near its end in the server's own snapshot.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "mutex_pair.h"
#include "zkproto.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define T_MS 20000
#define SEAL 13	    /* at a snapshot's end: checksum 8, length 4, "/" */
#define CVERSION 44 /* its offset in a node, from the node's ACL */

/* Without digests, and without the zxid that newer servers add, there is one
   seal, at the end. */
static const struct server_options options = {
	.jvm = "-Dzookeeper.digest.enabled=false "
	       "-Dzookeeper.serializeLastProcessedZxid.enabled=false",
};

/* Store the path of the newest snapshot; their hexadecimal suffixes grow. */
static void find_snapshot(char *path, size_t size)
{
	unsigned long long newest = 0;
	char dir[512];
	struct dirent *entry;

	snprintf(dir, sizeof(dir), "%s/data/version-2",
		server_dir(fixture_server()));
	DIR *d = opendir(dir);
	ck_assert_ptr_nonnull(d);
	path[0] = '\0';
	while ((entry = readdir(d)) != NULL) {
		unsigned long long zxid;

		if (sscanf(entry->d_name, "snapshot.%llx", &zxid) != 1 ||
			(path[0] != '\0' && zxid < newest))
			continue;
		newest = zxid;
		snprintf(path, size, "%s/%s", dir, entry->d_name);
	}
	closedir(d);
	ck_assert_str_ne(path, "");
}

static uint32_t adler32(const unsigned char *data, size_t len)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < len; i++) {
		a = (a + data[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

/* Change the counter of the node "path" in a snapshot, and correct the seal. */
static void doctor(unsigned char *data, size_t len, const char *path,
	int32_t count)
{
	char key[64];
	size_t path_len = strlen(path);

	zk_put32(key, (int32_t)path_len);
	snprintf(key + 4, sizeof(key) - 4, "%s", path);
	unsigned char *node = memmem(data, len, key, 4 + path_len);
	ck_assert_ptr_nonnull(node);
	node += 4 + path_len;
	int32_t data_len = zk_get32(node);
	node += 4 + (data_len > 0 ? data_len : 0);
	zk_put32(node + CVERSION, count);
	zk_put64(data + len - SEAL, adler32(data, len - SEAL));
}

/* Make "count" the number of the next child of LINE.  Restarts the server. */
static void set_counter(int32_t count)
{
	static unsigned char data[1 << 20];
	char path[1024];

	/* A server writes a snapshot of everything when it starts. */
	ck_assert_int_eq(server_restart(fixture_server()), 0);
	ck_assert_int_eq(server_kill(fixture_server()), 0);
	find_snapshot(path, sizeof(path));
	FILE *f = fopen(path, "r+");
	ck_assert_ptr_nonnull(f);
	size_t len = fread(data, 1, sizeof(data), f);
	ck_assert_uint_gt(len, SEAL);
	ck_assert_uint_lt(len, sizeof(data));
	doctor(data, len, LINE, count);
	rewind(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(server_restart(fixture_server()), 0);
}

static void set_up(int32_t count)
{
	ck_assert_int_eq(raw_create(fixture_address(), "/locks", ""), 0);
	ck_assert_int_eq(raw_create(fixture_address(), LINE, ""), 0);
	set_counter(count);
	pair_open(T_MS, 0);
}

static void flush(void)
{
	check_err(kustos_client_flush(client, SOON, NULL), KUSTOS_OK);
	check_err(kustos_client_flush(other, SOON, NULL), KUSTOS_OK);
}

/* Return the number at the end of a hold's path. */
static const char *number_of(struct kustos_hold *hold)
{
	const char *path = kustos_hold_path(hold);

	return path + strlen(path) - 10;
}

/* Nobody acquires the mutex, and nobody waits for it. */
static void check_saturated(struct kustos_mutex *m)
{
	struct kustos_hold *hold = NULL;

	check_err(kustos_mutex_lock(m, SOON, NULL), KUSTOS_ESATURATED);
	check_err(kustos_mutex_lock(m, KUSTOS_NOW, NULL), KUSTOS_ESATURATED);
	check_err(kustos_mutex_acquire(m, SOON, NULL, &hold),
		KUSTOS_ESATURATED);
	ck_assert_ptr_null(hold);
	flush();
}

START_TEST(S18_numbers_that_have_run_out_never_give_two_holders)
{
	struct ask next = { .calls = 0 }, late = { .calls = 0 };
	struct kustos_hold *hold;

	set_up(INT32_MAX - 3);
	/* While somebody else's node is there, the line cannot be recreated. */
	ck_assert_int_eq(raw_create(fixture_address(), LINE "/config", ""), 0);
	hold = hold_take(mutex);
	ck_assert_str_eq(number_of(hold), "2147483645");
	ask(&next, rivals, SOON);
	line_wait(3);
	for (int i = 0; i < 4; i++) {
		ask(&late, i % 2 ? mutex : rivals, SOON);
		check_err(ask_wait(&late, 2000), KUSTOS_ESATURATED);
		atomic_store(&late.calls, 0);
	}
	flush();
	check_node(hold, client);
	ck_assert(ask_waits(&next));
	hold_give(hold);
	check_err(ask_wait(&next, 2000), KUSTOS_OK);
	ck_assert_str_eq(number_of(next.hold), "2147483646");
	check_saturated(mutex);
	check_node(next.hold, other);
	hold_give(next.hold);
	flush();
	for (int i = 0; i < 3; i++) {
		check_saturated(mutex);
		check_saturated(rivals);
	}
	ck_assert_int_eq(line_count(), 1);
	pair_close();
}
END_TEST

START_TEST(S18_a_line_that_is_running_out_begins_anew_when_it_is_empty)
{
	struct kustos_hold *hold;
	int64_t token;

	set_up((INT32_C(1) << 30) + 5);
	hold = hold_take(mutex);
	ck_assert_str_eq(number_of(hold), "1073741829");
	token = kustos_hold_token(hold);
	hold_give(hold);
	test_eventually(raw_exists(fixture_address(), LINE, NULL) == RAW_NONODE,
		2000);
	hold = hold_take(rivals);
	ck_assert_str_eq(number_of(hold), "0000000000");
	ck_assert_int_gt(kustos_hold_token(hold), token);
	hold_give(hold);
	pair_close();
}
END_TEST

/* Return whether LINE is still there once all that "client" has begun has
   ended. */
static bool line_stays(void)
{
	flush(); /* the node of the holder is deleted */
	flush(); /* the line's node was read */
	flush(); /* and perhaps deleted */
	return raw_exists(fixture_address(), LINE, NULL) == 0;
}

/* The last one deletes the line's node, unless that stores what we did not
   write. */
START_TEST(S18_a_line_with_data_of_a_programs_own_stays)
{
	static const struct {
		const char *data;
		bool stays;
	} cases[] = {
		{ "", false },
		{ "_c_00000000-0000-0000-0000-000000000000-lock-0000000007",
			false },
		{ "mine", true },
	};

	set_up((INT32_C(1) << 30) + 5);
	ck_assert_int_eq(raw_set(fixture_address(), LINE, cases[_i].data), 0);
	hold_give(hold_take(mutex));
	ck_assert(line_stays() == cases[_i].stays);
	pair_close();
}
END_TEST

/* The data is written between the read and the deletion. */
START_TEST(S18_a_line_stays_if_a_program_writes_into_it_just_then)
{
	set_up((INT32_C(1) << 30) + 5);
	pair_close();
	pair_open_behind_proxy(T_MS, 0);
	struct kustos_hold *hold = hold_take(mutex);
	pair_settle();
	proxy_set_delay(proxy, 0, 300); /* of what it is answered */
	proxy_reset_counts(proxy);
	hold_give(hold);
	test_eventually(proxy_count(proxy, ZK_OP_GET) > 0, 5000);
	ck_assert_int_eq(raw_set(fixture_address(), LINE, "mine"), 0);
	proxy_set_delay(proxy, 0, 0);
	ck_assert(line_stays());
	pair_close();
}
END_TEST

/* A stock kazoo lock makes it once and relies on it. */
START_TEST(S18_a_line_of_kazoos_dialect_stays)
{
	struct kustos_mutex_options o = KUSTOS_MUTEX_OPTIONS_INIT;
	struct kustos_mutex *plain = NULL;

	set_up((INT32_C(1) << 30) + 5);
	o.dialect = KUSTOS_DIALECT_KAZOO;
	check_err(kustos_mutex_create(client, LINE, &o, &plain), KUSTOS_OK);
	hold_give(hold_take(plain));
	ck_assert(line_stays());
	kustos_mutex_destroy(plain);
	pair_close();
}
END_TEST

/* At the end some servers repeat the last number, others go on below zero. */
START_TEST(S18_a_line_that_has_run_out_begins_anew_when_it_is_empty)
{
	struct kustos_hold *hold = NULL;
	enum kustos_err err = KUSTOS_ESATURATED;

	set_up(_i == 0 ? INT32_MAX : INT32_MIN + 7);
	for (int i = 0; i < 5 && err != KUSTOS_OK; i++) {
		err = kustos_mutex_acquire(mutex, SOON, NULL, &hold);
		ck_assert(err == KUSTOS_OK || err == KUSTOS_ESATURATED);
		ck_assert(i > 0 || err == KUSTOS_ESATURATED);
		(void)line_stays(); /* let it end */
	}
	check_err(err, KUSTOS_OK);
	ck_assert_str_eq(number_of(hold), "0000000000");
	hold_give(hold);
	pair_close();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mutex, numbers");
	TCase *t;

	fixture_options(&options);
	t = fixture_case(s, "one server", 30);
	tcase_add_test(t, S18_numbers_that_have_run_out_never_give_two_holders);
	tcase_add_test(t,
		S18_a_line_that_is_running_out_begins_anew_when_it_is_empty);
	tcase_add_loop_test(t, S18_a_line_with_data_of_a_programs_own_stays, 0,
		3);
	tcase_add_test(t,
		S18_a_line_stays_if_a_program_writes_into_it_just_then);
	tcase_add_test(t, S18_a_line_of_kazoos_dialect_stays);
	tcase_add_loop_test(t,
		S18_a_line_that_has_run_out_begins_anew_when_it_is_empty, 0, 2);
	return fixture_main(s);
}
