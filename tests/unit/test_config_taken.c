/* test_config_taken.c - options as they are copied, and the defaults of the
   others. */
#include "unit.h"

#include "client.h"

#include <stdio.h>
#include <string.h>

static struct ku_config config;
static struct kustos_client_options o;
static char why[128];

static void setup(void)
{
	static const struct kustos_client_options defaults =
		KUSTOS_CLIENT_OPTIONS_INIT;

	o = defaults;
	o.hosts = "zk1,zk2:1/app";
}

static void teardown(void)
{
	ku_config_free(&config);
	memset(&config, 0, sizeof(config));
}

static void take(void)
{
	enum kustos_err err = ku_config_init(&config, &o, why);

	ck_assert_msg(err == KUSTOS_OK, "%s", why);
}

static void check_refused(const char *reason)
{
	ck_assert_int_eq(ku_config_init(&config, &o, why), KUSTOS_EINVAL);
	ck_assert_msg(strstr(why, reason) != NULL, "%s", why);
	teardown();
}

START_TEST(what_is_not_set_has_the_documented_default)
{
	take();
	ck_assert_int_eq(config.hosts.count, 2);
	ck_assert_str_eq(config.prefix, "/app");
	ck_assert_uint_eq(config.chroot_len, 4);
	ck_assert_int_eq(config.timeout_ms, 10000);
	ck_assert_int_eq(config.retry.kind, KUSTOS_RETRY_EXPONENTIAL);
	ck_assert_int_eq(config.retry.max_retries, 29);
	ck_assert_int_eq(config.acl_count, 1);
	ck_assert_int_eq(config.acl[0].perms, KUSTOS_PERM_ALL);
	ck_assert_str_eq(config.acl[0].scheme, "world");
	ck_assert_str_eq(config.acl[0].id, "anyone");
	ck_assert_ptr_null(config.digest);
	ck_assert_uint_eq(config.node_data_len, 0);
	ck_assert_int_eq(config.log_level, KUSTOS_LOG_WARNING);
	ck_assert_int_eq(config.dispatch, KUSTOS_DISPATCH_THREAD);
	ck_assert_int_eq(config.resume.id, 0);
}
END_TEST

START_TEST(strings_and_arrays_are_copied)
{
	char digest[] = "me:secret", scheme[] = "auth", id[] = "x",
	     data[] = "d";
	struct kustos_acl acl = { KUSTOS_PERM_READ, scheme, id };

	o.digest = digest;
	o.acl = &acl;
	o.acl_count = 1;
	o.node_data = data;
	o.node_data_len = 1;
	take();
	digest[0] = scheme[0] = id[0] = data[0] = '-';
	acl.perms = 0;
	ck_assert_str_eq(config.digest, "me:secret");
	ck_assert_int_eq(config.acl_count, 1);
	ck_assert_int_eq(config.acl[0].perms, KUSTOS_PERM_READ);
	ck_assert_str_eq(config.acl[0].scheme, "auth");
	ck_assert_str_eq(config.acl[0].id, "x");
	ck_assert_uint_eq(config.node_data_len, 1);
	ck_assert_int_eq(config.node_data[0], 'd');
}
END_TEST

static void log_nothing(void *arg, enum kustos_log_level level,
	const char *text)
{
	(void)arg;
	(void)level;
	(void)text;
}

static void hook_nothing(void *arg, const struct kustos_request *request)
{
	(void)request;
	(void)arg;
}

START_TEST(what_is_set_is_taken)
{
	struct kustos_ticket ticket = { .session_id = 77 };
	int log_arg, hook_arg;

	memset(ticket.password, 'p', sizeof(ticket.password));
	o.retry = kustos_retry_n_times(3, 40);
	o.log = log_nothing;
	o.log_arg = &log_arg;
	o.log_level = KUSTOS_LOG_INFO;
	o.on_request = hook_nothing;
	o.on_request_arg = &hook_arg;
	o.dispatch = KUSTOS_DISPATCH_FD;
	o.resume = &ticket;
	take();
	ck_assert_int_eq(config.retry.kind, KUSTOS_RETRY_N_TIMES);
	ck_assert_int_eq(config.retry.pause_ms, 40);
	ck_assert(config.log == log_nothing);
	ck_assert_ptr_eq(config.log_arg, &log_arg);
	ck_assert_int_eq(config.log_level, KUSTOS_LOG_INFO);
	ck_assert(config.on_request == hook_nothing);
	ck_assert_ptr_eq(config.on_request_arg, &hook_arg);
	ck_assert_int_eq(config.dispatch, KUSTOS_DISPATCH_FD);
	ck_assert_int_eq(config.resume.id, 77);
	ck_assert_int_eq(config.resume.password[0], 'p');
	ck_assert_int_eq(config.resume.password[15], 'p');
}
END_TEST

START_TEST(the_longest_and_the_shortest_timeout_are_taken)
{
	o.session_timeout_ms = _i == 0 ? 100 : 86400000;
	take();
	ck_assert_int_eq(config.timeout_ms, o.session_timeout_ms);
}
END_TEST

START_TEST(a_name_space_stands_behind_the_chroot)
{
	static const char *const spaces[] = { "/billing", "", "/", NULL };
	static const char *const prefixes[] = { "/app/billing", "/app", "/app",
		"/app" };

	o.name_space = spaces[_i];
	take();
	ck_assert_str_eq(config.prefix, prefixes[_i]);
	ck_assert_uint_eq(config.chroot_len, strlen("/app"));
}
END_TEST

/* From a program that was compiled with older headers, or with newer ones. */
START_TEST(a_struct_is_read_as_far_as_both_know_it)
{
	struct {
		struct kustos_client_options o;
		char more[64];
	} newer;

	if (_i == 0) {
		memset((char *)&o +
				offsetof(struct kustos_client_options,
					name_space),
			0xff,
			sizeof(o) -
				offsetof(struct kustos_client_options,
					name_space));
		o.size = offsetof(struct kustos_client_options, name_space);
		take();
		ck_assert_int_eq(config.timeout_ms, 10000);
		ck_assert_int_eq(config.acl_count, 1);
		ck_assert_ptr_null(config.digest);
	} else {
		memset(&newer, 0, sizeof(newer));
		newer.o = o;
		newer.o.size = sizeof(newer);
		ck_assert_int_eq(ku_config_init(&config, &newer.o, why),
			KUSTOS_OK);
		ck_assert_int_eq(config.timeout_ms, 10000);
		teardown();
		newer.more[sizeof(newer.more) - 1] = 1;
		ck_assert_int_eq(ku_config_init(&config, &newer.o, why),
			KUSTOS_EINVAL);
		ck_assert_str_eq(why, "an option is newer than this library");
	}
}
END_TEST

START_TEST(what_is_malformed_is_named)
{
	static const struct kustos_acl acl[] = {
		{ KUSTOS_PERM_ALL, "world", "anyone" },
		{ KUSTOS_PERM_ALL, NULL, "anyone" },
	};

	o.hosts = NULL;
	check_refused("hosts");
	setup();
	o.name_space = "billing";
	check_refused("name_space");
	setup();
	o.retry.pause_ms = -1;
	check_refused("retry");
	setup();
	o.digest = "nobody";
	check_refused("digest");
	setup();
	o.dispatch = (enum kustos_dispatch)(KUSTOS_DISPATCH_FD + 1);
	check_refused("dispatch");
	setup();
	o.acl = acl;
	o.acl_count = 2;
	check_refused("acl");
	setup();
	o.hosts = "zk1:0";
	check_refused("hosts");
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("options of a client, taken");
	TCase *t = tcase_create("taken");

	suite_add_tcase(s, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_not_set_has_the_documented_default);
	tcase_add_test(t, strings_and_arrays_are_copied);
	tcase_add_test(t, what_is_set_is_taken);
	tcase_add_loop_test(t, the_longest_and_the_shortest_timeout_are_taken,
		0, 2);
	tcase_add_loop_test(t, a_name_space_stands_behind_the_chroot, 0, 4);
	tcase_add_loop_test(t, a_struct_is_read_as_far_as_both_know_it, 0, 2);
	tcase_add_test(t, what_is_malformed_is_named);
	return s;
}

int main(void)
{
	return unit_main(suite());
}
