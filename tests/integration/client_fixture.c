/*
 * client_fixture.c - what tests of the client share.
 */
#include "client_fixture.h"
#include "child.h"
#include "proxy.h"
#include "raw.h"
#include "rawkill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void check_err(enum kustos_err got, enum kustos_err wanted)
{
	ck_assert_msg(got == wanted, "%s, not %s", kustos_err_name(got),
		kustos_err_name(wanted));
}

int64_t test_boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void to_stderr(void *arg, enum kustos_log_level level, const char *line)
{
	(void)arg;
	fprintf(stderr, "%10.3f [%d] %s\n", (double)test_now_us() / 1000, level,
		line);
}

struct kustos_client_options client_options(const char *hosts, int timeout_ms)
{
	struct kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

	o.hosts = hosts;
	o.session_timeout_ms = timeout_ms;
	if (getenv("KUSTOS_TEST_LOG") != NULL) {
		o.log = to_stderr;
		o.log_level = KUSTOS_LOG_DEBUG;
	}
	return o;
}

struct kustos_client_options client_options_unwritable(const char *hosts,
	int timeout_ms)
{
	static const struct kustos_acl acl = {
		KUSTOS_PERM_READ | KUSTOS_PERM_CREATE | KUSTOS_PERM_DELETE,
		"world",
		"anyone",
	};
	struct kustos_client_options o = client_options(hosts, timeout_ms);

	o.acl = &acl;
	o.acl_count = 1;
	return o;
}

struct kustos_client *client_open_with(
	const struct kustos_client_options *options)
{
	struct kustos_client *client = NULL;

	ck_assert_int_eq(kustos_client_open(options, &client), KUSTOS_OK);
	ck_assert_ptr_nonnull(client);
	return client;
}

struct kustos_client *client_open(const char *hosts, int timeout_ms)
{
	struct kustos_client_options o = client_options(hosts, timeout_ms);

	return client_open_with(&o);
}

struct kustos_client *client_connected(const char *hosts, int timeout_ms)
{
	struct kustos_client *client = client_open(hosts, timeout_ms);

	ck_assert_int_eq(kustos_client_wait_connected(client,
				 kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
	return client;
}

void client_wait(struct kustos_client *client, enum kustos_state state, int ms)
{
	int64_t end;

	ms *= TEST_SLOW;
	end = test_now_ms() + ms;
	while (kustos_client_state(client) != state) {
		if (test_now_ms() > end)
			ck_abort_msg("%s, and not %s within %d ms",
				kustos_state_name(kustos_client_state(client)),
				kustos_state_name(state), ms);
		test_pause_1ms();
	}
}

void client_wait_epoch(struct kustos_client *client, int64_t epoch, int ms)
{
	struct kustos_session s;
	int64_t end;

	ms *= TEST_SLOW;
	end = test_now_ms() + ms;
	for (;;) {
		s = client_session(client);
		if (s.epoch > epoch && s.state == KUSTOS_STATE_CONNECTED)
			return;
		if (test_now_ms() > end)
			ck_abort_msg("%s in epoch %lld after %d ms",
				kustos_state_name(s.state), (long long)s.epoch,
				ms);
		test_pause_1ms();
	}
}

struct kustos_session client_session(struct kustos_client *client)
{
	struct kustos_session s = KUSTOS_SESSION_INIT;

	ck_assert_int_eq(kustos_client_session(client, &s), KUSTOS_OK);
	return s;
}

int64_t client_session_id(struct kustos_client *client)
{
	return client_session(client).session_id;
}

int64_t client_epoch(struct kustos_client *client)
{
	return client_session(client).epoch;
}

bool client_is_on(struct kustos_client *client, const struct proxy *way)
{
	struct kustos_session s = client_session(client);

	return s.state == KUSTOS_STATE_CONNECTED &&
		!strcmp(s.server, proxy_address(way));
}

void client_exchange(struct kustos_client *client)
{
	ck_assert_int_eq(kustos_exists(client, "/",
				 kustos_after_ms(PATIENCE_MS), NULL, NULL),
		KUSTOS_OK);
}

struct kustos_client_stats client_stats(struct kustos_client *client)
{
	struct kustos_client_stats stats = KUSTOS_CLIENT_STATS_INIT;

	ck_assert_int_eq(kustos_client_stats(client, &stats), KUSTOS_OK);
	return stats;
}

int64_t client_create(struct kustos_client *client, const char *path, int flags)
{
	struct kustos_stat stat;

	ck_assert_int_eq(kustos_create(client, path, NULL, 0, flags,
				 kustos_after_ms(PATIENCE_MS), NULL, NULL,
				 &stat),
		KUSTOS_OK);
	return stat.czxid;
}

void client_create_with(int perms, const char *path, int flags)
{
	const struct kustos_acl acl = { perms, "world", "anyone" };
	struct kustos_client_options o = client_options(fixture_address(),
		PATIENCE_MS);

	o.acl = &acl;
	o.acl_count = 1;
	struct kustos_client *owner = client_open_with(&o);
	(void)client_create(owner, path, flags);
	client_close(owner);
}

void client_kill_session(struct kustos_client *client)
{
	ck_assert_int_eq(
		raw_kill_session(fixture_address(), client_session_id(client)),
		0);
}

void client_close(struct kustos_client *client)
{
	ck_assert_int_eq(
		kustos_client_close(client, kustos_after_ms(PATIENCE_MS), NULL),
		KUSTOS_OK);
}

void client_drop(struct kustos_client *client)
{
	(void)kustos_client_close(client, KUSTOS_NOW, NULL);
}

enum kustos_err answer_to_the_blind(void)
{
	static const char path[] = "/answer-to-the-blind";

	client_create_with(KUSTOS_PERM_ALL & ~KUSTOS_PERM_READ, path, 0);
	int rc = raw_exists(fixture_address(), path, NULL);
	ck_assert_int_eq(raw_delete(fixture_address(), path), 0);
	ck_assert(rc == 0 || rc == RAW_NOAUTH);
	return rc == 0 ? KUSTOS_OK : KUSTOS_ENOAUTH;
}

bool session_lives(int64_t id)
{
	static char text[16384];
	char hex[32];

	ck_assert_uint_gt(
		fourletter(fixture_address(), "dump", text, sizeof(text)), 0);
	char *rest = strstr(text, "ephemeral nodes dump");
	ck_assert_ptr_nonnull(rest);
	*rest = '\0';
	snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)id);
	return strstr(text, hex) != NULL;
}

void ticket_say(int fd, struct kustos_client *client)
{
	struct kustos_ticket t;
	char line[128];
	int len;

	ck_assert_int_eq(kustos_client_ticket(client, &t), KUSTOS_OK);
	len = snprintf(line, sizeof(line), "%llx ", (long long)t.session_id);
	for (size_t i = 0; i < sizeof(t.password); i++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, "%02x",
			t.password[i]);
	(void)child_say(fd, line);
}

void ticket_hear(int fd, struct kustos_ticket *ticket)
{
	char line[128];
	unsigned long long id;
	int at;

	ck_assert_int_eq(child_hear(fd, line, sizeof(line), PATIENCE_MS), 0);
	ck_assert_int_eq(sscanf(line, "%llx %n", &id, &at), 1);
	ticket->session_id = (int64_t)id;
	for (size_t i = 0; i < sizeof(ticket->password); i++) {
		unsigned byte;

		ck_assert_int_eq(sscanf(line + at + 2 * i, "%2x", &byte), 1);
		ticket->password[i] = (unsigned char)byte;
	}
}

void record_state(void *arg, const struct kustos_session *now)
{
	struct record *r = arg;
	int64_t at_ns = test_boot_ns();

	pthread_mutex_lock(&r->mutex);
	if (r->count < RECORD_MAX) {
		r->told[r->count].session = *now;
		r->told[r->count].at_ns = at_ns;
	}
	r->count++;
	pthread_mutex_unlock(&r->mutex);
}

static int told(struct record *r)
{
	pthread_mutex_lock(&r->mutex);
	int count = r->count;
	pthread_mutex_unlock(&r->mutex);
	return count;
}

void record_listen(struct record *r, struct kustos_client *client)
{
	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->mutex, NULL);
	ck_assert_int_eq(
		kustos_client_listen(client, record_state, r, &r->listener),
		KUSTOS_OK);
}

void record_start(struct record *r, struct kustos_client *client)
{
	record_listen(r, client);
	test_eventually(told(r) > 0, 5000);
}

void record_stop(struct record *r, struct kustos_client *client)
{
	kustos_client_unlisten(client, r->listener);
	r->listener = NULL;
}

static int kept(const struct record *r)
{
	return r->count < RECORD_MAX ? r->count : RECORD_MAX;
}

int record_count(struct record *r, enum kustos_state state)
{
	int n = 0;

	pthread_mutex_lock(&r->mutex);
	for (int i = 0; i < kept(r); i++)
		n += r->told[i].session.state == state;
	pthread_mutex_unlock(&r->mutex);
	return n;
}

int64_t record_when(struct record *r, enum kustos_state state, int n)
{
	int64_t at_ns = 0;

	pthread_mutex_lock(&r->mutex);
	for (int i = 0; i < kept(r) && at_ns == 0; i++)
		if (r->told[i].session.state == state && --n == 0)
			at_ns = r->told[i].at_ns;
	pthread_mutex_unlock(&r->mutex);
	return at_ns;
}

void count_completion(void *arg, enum kustos_err err,
	const struct kustos_result *result)
{
	struct completions *c = arg;

	(void)result;
	if (err != KUSTOS_OK) {
		__atomic_store_n(&c->err, (int)err, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&c->failed, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_add_fetch(&c->calls, 1, __ATOMIC_SEQ_CST);
}

int completions_of(const struct completions *c)
{
	return __atomic_load_n(&c->calls, __ATOMIC_SEQ_CST);
}

void end_told(void *arg, enum kustos_err err)
{
	struct end *end = arg;

	end->err = err;
	__atomic_add_fetch(&end->calls, 1, __ATOMIC_SEQ_CST);
}

int end_calls(const struct end *end)
{
	return __atomic_load_n(&end->calls, __ATOMIC_SEQ_CST);
}

enum kustos_err end_wait(const struct end *end, int ms)
{
	test_eventually(end_calls(end) > 0, ms);
	ck_assert_int_eq(end_calls(end), 1);
	return end->err;
}
