/*
 * test_config.c - options with which no client can be opened, and what the log
 * says about them.
 */
#include "unit.h"

#include <kustos/client.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

static char line[600];

static void keep_line(void *arg, enum kustos_log_level level, const char *text)
{
	(void)arg;
	ck_assert_int_eq(level, KUSTOS_LOG_ERROR);
	snprintf(line, sizeof(line), "%s", text);
}

static struct kustos_client_options options(void)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	o.hosts = "127.0.0.1:1";
	o.log = keep_line;
	line[0] = '\0';
	return o;
}

/* Return what the log says. */
static const char *refused(const struct kustos_client_options *o)
{
	struct kustos_client *client = NULL;

	ck_assert_int_eq(kustos_client_open(o, &client), KUSTOS_EINVAL);
	ck_assert_ptr_null(client);
	return line;
}

#define REFUSED(o, why) ck_assert_ptr_nonnull(strstr(refused(&(o)), (why)))

START_TEST(a_session_timeout_is_from_100_ms_to_a_day)
{
	static const int wrong[] = { -1, 0, 99, 86400001, INT_MAX };
	struct kustos_client_options o = options();

	o.session_timeout_ms = wrong[_i];
	REFUSED(o, "session_timeout_ms");
}
END_TEST

START_TEST(an_access_control_list_has_all_its_parts)
{
	static const struct kustos_acl wrong[] = {
		{ -1, "world", "anyone" },
		{ KUSTOS_PERM_ALL + 1, "world", "anyone" },
		{ KUSTOS_PERM_ALL, NULL, "anyone" },
		{ KUSTOS_PERM_ALL, "world", NULL },
	};
	struct kustos_client_options o = options();

	o.acl = &wrong[_i];
	o.acl_count = 1;
	REFUSED(o, "acl");
	o.acl = NULL;
	REFUSED(o, "acl");
	o.acl_count = SIZE_MAX;
	REFUSED(o, "acl");
}
END_TEST

START_TEST(data_for_nodes_has_a_length_that_a_node_can_have)
{
	struct kustos_client_options o = options();

	o.node_data_len = 1;
	REFUSED(o, "node_data");
	o.node_data = "x";
	o.node_data_len = SIZE_MAX;
	REFUSED(o, "node_data");
	o.node_data_len = (size_t)INT_MAX / 2 + 1;
	REFUSED(o, "node_data");
}
END_TEST

START_TEST(the_log_is_one_line_whatever_the_hosts_are)
{
	struct kustos_client_options o = options();

	o.hosts = "zk1:2181\nzk2:2181\r\n";
	REFUSED(o, "hosts");
	ck_assert_msg(strpbrk(line, "\r\n") == NULL, "\"%s\"", line);
	ck_assert_ptr_nonnull(strstr(line, "zk2:2181"));
}
END_TEST

START_TEST(an_option_that_this_library_does_not_know_is_logged)
{
	struct {
		struct kustos_client_options known;
		char newer[8];
	} o = { options(), "x" };

	o.known.size = sizeof(o);
	REFUSED(o.known, "newer than this library");
}
END_TEST

START_TEST(a_size_that_is_not_set_is_refused_in_silence)
{
	struct kustos_client_options o = options();

	o.size = 0;
	ck_assert_str_eq(refused(&o), "");
	o.size = offsetof(struct kustos_client_options, name_space) - 1;
	ck_assert_str_eq(refused(&o), "");
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("options of a client");
	TCase *t = tcase_create("wrong");

	suite_add_tcase(s, t);
	tcase_add_loop_test(t, a_session_timeout_is_from_100_ms_to_a_day, 0, 5);
	tcase_add_loop_test(t, an_access_control_list_has_all_its_parts, 0, 4);
	tcase_add_test(t, data_for_nodes_has_a_length_that_a_node_can_have);
	tcase_add_test(t, the_log_is_one_line_whatever_the_hosts_are);
	tcase_add_test(t, an_option_that_this_library_does_not_know_is_logged);
	tcase_add_test(t, a_size_that_is_not_set_is_refused_in_silence);
	return s;
}

int main(void)
{
	return unit_main(suite());
}
