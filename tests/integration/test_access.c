/*
 * test_access.c - credentials and access control lists: given again on each
 * connection, refused, and applied to all nodes that a client creates.
 */
#include "client_fixture.h"
#include "proxy.h"
#include "raw.h"

#define T_MS 10000
#define REFUSED (-102)

static const struct kustos_acl creator_only = { KUSTOS_PERM_ALL, "auth", "" };

static struct proxy *proxy;
static struct kustos_client *client;

static struct kustos_client *open_as(const char *digest,
	const struct kustos_acl *acl)
{
	struct kustos_client_options o = client_options(proxy_address(proxy),
		T_MS);

	o.digest = digest;
	o.acl = acl;
	o.acl_count = acl != NULL ? 1 : 0;
	return client_open_with(&o);
}

static void set_up(void)
{
	proxy = fixture_proxy();
	client = open_as("alice:secret", &creator_only);
	client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
}

static void tear_down(void)
{
	client_close(client);
	proxy_free(proxy);
}

static enum kustos_err get(struct kustos_client *c, const char *path)
{
	return kustos_get(c, path, SOON, NULL, NULL, NULL, NULL);
}

/* Delete the nodes, which the next test could not do. */
static void remove_all(void)
{
	static const char *const paths[] = { "/p/q/n", "/p/q", "/p" };

	for (int i = 0; i < 3; i++) {
		enum kustos_err err = kustos_delete(client, paths[i], -1, SOON,
			NULL);
		ck_assert(err == KUSTOS_OK || err == KUSTOS_ENONODE);
	}
}

START_TEST(L29_credentials_are_given_again_on_every_connection)
{
	client_create(client, "/p", 0);
	for (int i = 0; i < 5; i++) {
		proxy_cut(proxy);
		check_err(get(client, "/p"), KUSTOS_OK);
		client_wait(client, KUSTOS_STATE_CONNECTED, 5000);
	}
	int64_t epoch = client_epoch(client);
	client_kill_session(client);
	client_wait_epoch(client, epoch, 8000);
	check_err(get(client, "/p"), KUSTOS_OK);
	remove_all();
}
END_TEST

START_TEST(L29_who_has_other_credentials_is_refused_once)
{
	struct kustos_client *other = _i == 0 ? open_as(NULL, NULL)
					      : open_as("alice:guess", NULL);
	struct kustos_op op = { .kind = KUSTOS_OP_SET,
		.path = "/p",
		.version = -1 };

	client_create(client, "/p", 0);
	check_err(get(other, "/p"), KUSTOS_ENOAUTH);
	check_err(kustos_set(other, "/p", "", 0, -1, SOON, NULL, NULL),
		KUSTOS_ENOAUTH);
	check_err(kustos_children(other, "/p", SOON, NULL, NULL, NULL),
		KUSTOS_ENOAUTH);
	check_err(kustos_create(other, "/p/x", NULL, 0,
			  KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_PARENTS, SOON,
			  NULL, NULL, NULL),
		KUSTOS_ENOAUTH);
	check_err(kustos_create(other, "/p/x/y", NULL, 0, KUSTOS_CREATE_PARENTS,
			  SOON, NULL, NULL, NULL),
		KUSTOS_ENOAUTH);
	check_err(kustos_multi(other, &op, 1, SOON, NULL, NULL),
		KUSTOS_ENOAUTH);
	ck_assert_uint_eq(client_stats(other).retried, 0);
	ck_assert_int_eq(raw_set(fixture_address(), "/p", "x"), REFUSED);
	client_close(other);
	remove_all();
}
END_TEST

/* This ACL allows what the library itself needs to resolve a lost reply: to
   list the parent and look at the node. */
START_TEST(U09_a_protected_creation_works_with_a_creator_only_acl)
{
	struct kustos_stat stat;
	char *path = NULL;

	client_create(client, "/p/q/n", KUSTOS_CREATE_PARENTS);
	proxy_arm(proxy, PROXY_LOSE_REPLY, ZK_OP_CREATE2, 1);
	check_err(kustos_create(client, "/p/q/n-", NULL, 0,
			  KUSTOS_CREATE_PROTECTED | KUSTOS_CREATE_EPHEMERAL,
			  SOON, NULL, &path, NULL),
		KUSTOS_OK);
	ck_assert_int_eq(proxy_fired(proxy), 1);
	check_err(kustos_exists(client, "/p/q", SOON, NULL, &stat), KUSTOS_OK);
	ck_assert_int_eq(stat.num_children, 2);
	check_err(kustos_delete(client, path, -1, SOON, NULL), KUSTOS_OK);
	kustos_free(path);
	remove_all();
}
END_TEST

START_TEST(U09_transactions_and_parents_get_the_acl_too)
{
	struct kustos_op op = { .kind = KUSTOS_OP_CREATE, .path = "/p/q/n" };

	client_create(client, "/p/q/n", KUSTOS_CREATE_PARENTS);
	check_err(kustos_delete(client, "/p/q/n", -1, SOON, NULL), KUSTOS_OK);
	check_err(kustos_multi(client, &op, 1, SOON, NULL, NULL), KUSTOS_OK);
	ck_assert_int_eq(raw_set(fixture_address(), "/p", "x"), REFUSED);
	ck_assert_int_eq(raw_set(fixture_address(), "/p/q", "x"), REFUSED);
	ck_assert_int_eq(raw_set(fixture_address(), "/p/q/n", "x"), REFUSED);
	remove_all();
}
END_TEST

START_TEST(U09_a_malformed_acl_is_reported)
{
	struct kustos_acl nonsense = { KUSTOS_PERM_ALL, "nonsense", "x" };
	struct kustos_client *other = open_as(NULL, &nonsense);
	struct kustos_client *nobody = open_as(NULL, &creator_only);

	check_err(
		kustos_create(other, "/x", NULL, 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_EBADACL);
	check_err(
		kustos_create(nobody, "/x", NULL, 0, 0, SOON, NULL, NULL, NULL),
		KUSTOS_EBADACL);
	client_close(other);
	client_close(nobody);
}
END_TEST

START_TEST(U09_nodes_are_open_to_all_unless_told_otherwise)
{
	struct kustos_client *other = open_as(NULL, NULL);

	client_create(other, "/open", 0);
	ck_assert_int_eq(raw_set(fixture_address(), "/open", "x"), 0);
	client_close(other);
}
END_TEST

/* A server without the digest scheme ends the connection of a client that
   presents such credentials. */
static struct server *start_without_digest(void)
{
	struct server_options options = {
		.jvm = "-Dzookeeper.DigestAuthenticationProvider.enabled=false"
	};
	struct server *server = server_start(&options);

	ck_assert_ptr_nonnull(server);
	return server;
}

START_TEST(L29_refused_credentials_are_final)
{
	struct server *server = start_without_digest();
	struct kustos_client_options o;
	struct kustos_client *c;
	struct completions done = { 0 };
	int64_t linger_ms = 0;

	o = client_options(server_address(server), T_MS);
	o.digest = "alice:secret";
	c = client_open_with(&o);
	ck_assert_int_eq(
		kustos_get_async(c, "/", SOON, NULL, count_completion, &done),
		KUSTOS_OK);
	check_err(kustos_client_wait_connected(c, SOON, NULL), KUSTOS_EAUTH);
	test_eventually(completions_of(&done) == 1, 2000);
	check_err((enum kustos_err)done.err, KUSTOS_EAUTH);
	check_err(get(c, "/"), KUSTOS_EAUTH);
	check_err(kustos_client_flush(c, SOON, NULL), KUSTOS_EAUTH);
	ck_assert_int_eq(kustos_client_state(c), KUSTOS_STATE_CLOSED);
	/* The server has closed the connection, but it keeps the session. */
	check_err(kustos_client_close(c, SOON, &linger_ms), KUSTOS_ELINGERING);
	ck_assert_int_eq(linger_ms, T_MS);
	server_free(server);
}
END_TEST

/* Refused credentials end the client's session for good, so it must not ask any
   server whether the session lives. */
START_TEST(L29_refused_credentials_have_no_server_looked_for)
{
	struct server *server = start_without_digest();
	struct proxy *way = proxy_start("127.0.0.11", server_address(server),
		PROXY_ZOOKEEPER);

	ck_assert_ptr_nonnull(way);
	struct kustos_client_options o = client_options(proxy_address(way),
		T_MS);
	o.digest = "alice:secret";
	struct kustos_client *c = client_open_with(&o);
	check_err(kustos_client_wait_connected(c, SOON, NULL), KUSTOS_EAUTH);
	check_err(kustos_client_close(c, SOON, NULL), KUSTOS_ELINGERING);
	/* This connection comes after all of the client's: the one with the
	   handshake, and possibly one before it to ask whether there is a
	   server. */
	ck_assert_int_eq(raw_exists(proxy_address(way), "/", NULL), 0);
	ck_assert_int_le(proxy_accepted(way), 3);
	proxy_free(way);
	server_free(server);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("access");
	TCase *t = fixture_case(s, "access", 30);
	TCase *bare = fixture_bare_case(s, "no digest", 30);

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, L29_credentials_are_given_again_on_every_connection);
	tcase_add_loop_test(t, L29_who_has_other_credentials_is_refused_once, 0,
		2);
	tcase_add_test(t,
		U09_a_protected_creation_works_with_a_creator_only_acl);
	tcase_add_test(t, U09_transactions_and_parents_get_the_acl_too);
	tcase_add_test(t, U09_a_malformed_acl_is_reported);
	tcase_add_test(t, U09_nodes_are_open_to_all_unless_told_otherwise);
	tcase_add_test(bare, L29_refused_credentials_are_final);
	tcase_add_test(bare, L29_refused_credentials_have_no_server_looked_for);
	return fixture_main(s);
}
