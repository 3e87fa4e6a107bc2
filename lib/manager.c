/*
 * manager.c - the client's own thread: timers, handles, names, servers.
 *
 * It sleeps in poll() on one timer descriptor, which is also how it is woken,
 * and on the sockets of probes while there are some.
 */

#include "client.h"
#include "lookup.h"
#include "manager.h"
#include "probe.h"
#include "steer.h"
#include "thread.h"
#include "zk_fd.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LOOKUP_MAX_MS 5000
static const struct kustos_retry looking_up = KU_RETRY_EXPONENTIAL(100,
	LOOKUP_MAX_MS);

struct ku_manager {
	struct kustos_client *client;
	pthread_t thread;
	int fd; /* timerfd on the boot-time clock */
	atomic_bool woken;
	int64_t until_ns; /* when it wakes up; guarded by the client's lock */

	/* The thread's own. */
	struct ku_steer steer;
	struct ku_random random;
	struct ku_probe probe;
	int64_t round_ns; /* when the probes were sent */
	bool cramped;	  /* some were not, for lack of memory or descriptors */
	struct ku_addresses addresses;
	bool numeric; /* there is nothing to look up */
	struct ku_lookup *lookup;
	struct ku_retry lookup_retry;
	int64_t lookup_at;
	/* What the steering has been told of the session. */
	uint64_t seen_handles;
	bool seen_linked;
	int64_t seen_connection;
	int64_t seen_silence;
};

static void set_timer(struct ku_manager *m, int64_t at_ns)
{
	struct itimerspec when = { { 0, 0 }, { 0, 0 } };

	if (at_ns != INT64_MAX) {
		if (at_ns < 1)
			at_ns = 1; /* zero would stop it */
		when.it_value = ku_timespec(at_ns);
	}
	timerfd_settime(m->fd, TFD_TIMER_ABSTIME, &when, NULL);
}

void ku_manager_wake(struct ku_manager *m)
{
	if (!atomic_exchange(&m->woken, true))
		set_timer(m, 1);
}

void ku_manager_wake_by(struct ku_manager *m, int64_t at_ns)
{
	/* A manager that is awake looks at all timers before it sleeps. */
	if (at_ns >= m->until_ns)
		return;
	m->until_ns = at_ns;
	set_timer(m, at_ns);
	if (atomic_load(&m->woken))
		set_timer(m, 1); /* ku_manager_wake() must not be put off */
}

/* Sleep until the timer goes off, another thread wakes us, or a probe has
   news. */
static void sleep_on(struct ku_manager *m)
{
	struct pollfd fds[1 + KU_PROBE_MAX];
	int probes = ku_probe_poll(&m->probe, fds + 1);

	fds[0] = (struct pollfd){ .fd = m->fd, .events = POLLIN };
	/* A wake-up may have come before the timer was set for later. */
	if (!atomic_exchange(&m->woken, false)) {
		poll(fds, (nfds_t)(1 + probes), -1);
		atomic_store(&m->woken, false);
		ku_probe_step(&m->probe, fds + 1, probes);
	}
}

/* Take the addresses over, for the steering and for the next handle. */
static void use_addresses(struct ku_manager *m, struct ku_addresses *addresses)
{
	struct kustos_client *client = m->client;
	char *list = ku_addresses_join(addresses, &m->random);

	if (list == NULL) {
		ku_addresses_free(addresses);
		return;
	}
	ku_probe_stop(&m->probe);
	ku_addresses_free(&m->addresses);
	m->addresses = *addresses;
	ku_lock(client);
	free(client->addresses);
	client->addresses = list;
	int server = client->session.linked
		? ku_addresses_find(&m->addresses, client->session.server)
		: -1;
	ku_unlock(client);
	ku_steer_addresses(&m->steer, m->addresses.count,
		ku_addresses_distinct(&m->addresses), server);
}

static void lookup_done(void *arg)
{
	ku_manager_wake(arg);
}

static void start_lookup(struct ku_manager *m)
{
	if (m->numeric || m->lookup != NULL)
		return;
	m->lookup = ku_lookup_start(&m->client->config.hosts, lookup_done, m);
	if (m->lookup == NULL) /* no thread can be started: later */
		m->lookup_at = ku_now(m->client) + LOOKUP_MAX_MS * KU_NS_PER_MS;
}

static void finish_lookup(struct ku_manager *m)
{
	struct kustos_client *client = m->client;
	struct ku_addresses addresses;
	enum kustos_err err;
	const char *why;

	if (m->lookup == NULL ||
		!ku_lookup_take(m->lookup, &addresses, &err, &why))
		return;
	m->lookup = NULL;
	int64_t now = ku_now(client);
	if (err != KUSTOS_OK) {
		ku_log(client, KUSTOS_LOG_WARNING,
			"no host name could be resolved: %s",
			err == KUSTOS_ENOMEM ? kustos_strerror(err) : why);
		int64_t pause = ku_retry_next(&m->lookup_retry,
			KUSTOS_EDISCONNECTED, now, &m->random);
		m->lookup_at = now +
			(pause >= 0 ? pause : LOOKUP_MAX_MS * KU_NS_PER_MS);
		return;
	}
	ku_retry_start(&m->lookup_retry, &looking_up, now);
	if (ku_addresses_equal(&addresses, &m->addresses))
		ku_addresses_free(&addresses);
	else
		use_addresses(m, &addresses);
}

/* Look up names while the session waits for addresses; then open it. */
static int64_t tend_lookup(struct ku_manager *m)
{
	struct kustos_client *client = m->client;
	int64_t wake = INT64_MAX;

	finish_lookup(m);
	ku_lock(client);
	if (client->session.want_open && client->addresses != NULL)
		ku_session_open(client);
	bool wanted = client->session.want_open;
	ku_unlock(client);
	if (wanted && m->lookup == NULL) {
		if (ku_now(client) >= m->lookup_at)
			start_lookup(m);
		if (m->lookup == NULL)
			wake = m->lookup_at;
	}
	return wake;
}

/* Tell the steering which servers the session avoids.  Locked. */
static void tell_shunned(struct ku_manager *m)
{
	const struct ku_shun *shun = &m->client->session.shun;
	int64_t now = ku_now(m->client);

	for (int i = 0; i < m->addresses.count; i++)
		ku_steer_shun(&m->steer, i,
			ku_shun_has(shun, m->addresses.list[i].text, now));
}

/* Tell the steering what has happened to the session.  Locked. */
static void observe(struct ku_manager *m)
{
	struct kustos_client *client = m->client;
	const struct ku_session *session = &client->session;
	int64_t now = ku_now(client);
	int64_t silence = ku_beat_silent_since(client);

	ku_steer_timeout(&m->steer, session->timeout_ms * KU_NS_PER_MS);
	tell_shunned(m);
	ku_steer_owed(&m->steer, session->linked && ku_wire_owed(client));
	if (session->handle == NULL) {
		m->seen_linked = false; /* the handle has ended */
		ku_steer_closed(&m->steer);
	} else if (session->handles != m->seen_handles) {
		m->seen_handles = session->handles;
		m->seen_linked = false;
		ku_steer_opened(&m->steer, now);
	}
	if (m->seen_linked &&
		(!session->linked ||
			session->connection != m->seen_connection)) {
		m->seen_linked = false;
		ku_steer_disconnected(&m->steer, now);
	}
	if (session->linked && !m->seen_linked) {
		m->seen_linked = true;
		m->seen_connection = session->connection;
		m->seen_silence = 0;
		ku_steer_connected(&m->steer,
			ku_addresses_find(&m->addresses, session->server));
	}
	if (session->linked && silence != m->seen_silence) {
		m->seen_silence = silence;
		ku_steer_answered(&m->steer);
		if (silence != 0)
			ku_steer_heartbeat(&m->steer, silence);
	}
}

static void count_move(struct kustos_client *client, const char *how,
	const char *server)
{
	ku_lock(client);
	client->counters.moves++;
	ku_log(client, KUSTOS_LOG_INFO, "%s %s", how, server);
	ku_unlock(client);
}

/* Return the handle, or NULL.  It stays open while this thread uses it, since
   no other closes handles. */
static struct ku_handle *present_handle(struct kustos_client *client)
{
	ku_lock(client);
	struct ku_handle *handle = client->session.handle;
	ku_unlock(client);
	return handle;
}

static void kick(struct ku_manager *m)
{
	struct kustos_client *client = m->client;
	struct ku_handle *handle = present_handle(client);

	if (handle == NULL)
		return;
	ku_lock(client);
	bool kicked = client->env.api->kick(handle->zk);
	ku_unlock(client);
	if (kicked)
		count_move(client, "left", "a silent server");
	else
		ku_steer_kick_failed(&m->steer);
}

/* An address where nobody listens.  The library gives up its connection only
   for a list that lacks its present address. */
#define NOWHERE "127.255.255.254:1"

/* Set the list of the handle, and take note of the change at once.  The library
   reports requests that this loses only when the handle is elsewhere, so an
   unanswered write is noted here. */
static void set_list(struct ku_manager *m, struct ku_handle *handle,
	const char *address, bool anew)
{
	struct kustos_client *client = m->client;
	struct ku_session *session = &client->session;

	ku_lock(client);
	if (session->linked && ku_wire_owed(client))
		ku_shun_add(&session->shun, session->server, ku_now(client));
	if (anew)
		client->env.api->steer(handle->zk, NOWHERE, true);
	client->env.api->steer(handle->zk, address, true);
	strcpy(handle->addresses, address);
	ku_beat_nudge(client);
	observe(m);
	ku_unlock(client);
}

static void steer_to(struct ku_manager *m, int server, bool anew)
{
	struct ku_handle *handle = present_handle(m->client);
	char address[KU_ADDRESS_SIZE];

	if (handle == NULL)
		return;
	ku_address_bare(&m->addresses.list[server], address);
	count_move(m->client, "turning to", m->addresses.list[server].text);
	set_list(m, handle, address, anew);
}

static void tell_verdicts(struct ku_manager *m)
{
	for (int i = 0; i < m->probe.count; i++)
		ku_steer_verdict(&m->steer, i, ku_probe_verdict(&m->probe, i));
}

/* Would no server have taken a connection, and is the process connected to
   none? */
static bool is_cut_off(const struct ku_manager *m)
{
	for (int i = 0; i < m->addresses.count; i++) {
		enum ku_probe_verdict verdict = ku_probe_verdict(&m->probe, i);
		const struct ku_address *address = &m->addresses.list[i];

		if ((verdict != KU_PROBE_REFUSED &&
			    verdict != KU_PROBE_NOT_SERVING) ||
			ku_zk_fd_connected(
				(const struct sockaddr *)&address->storage))
			return false;
	}
	return m->addresses.count > 0;
}

/* If no server would have taken a connection when the probes were sent, the
   next connection is made after that, so the leader hears of the session after
   that, too (lease.h).  But a connection may have been made before, and its
   answer be late: a firewall, or a server without room, refuses new connections
   but does not end that one.  So is_cut_off() looks for such a connection. */
static void learn_from_round(struct ku_manager *m)
{
	if (!is_cut_off(m))
		return;
	ku_lock(m->client);
	ku_session_not_before(m->client, m->round_ns);
	ku_unlock(m->client);
}

/* A lack of sockets that stops our probes also keeps the library from
   connecting, so it is logged. */
static void begin_round(struct ku_manager *m)
{
	m->round_ns = ku_now(m->client);
	bool cramped = ku_probe_start(&m->probe, &m->addresses) != KUSTOS_OK;
	if (cramped && !m->cramped)
		ku_log(m->client, KUSTOS_LOG_ERROR,
			"no socket for a server can be had: %m");
	m->cramped = cramped;
	tell_verdicts(m);
}

/* Do what the steering asks for.  Returns when it wants to be asked again. */
static int64_t steer(struct ku_manager *m)
{
	int64_t wake;
	int to = 0; /* a compiler may not see when it is set */

	tell_verdicts(m);
	for (;;) {
		switch (ku_steer_next(&m->steer, ku_now(m->client), &to,
			&wake)) {
		case KU_STEER_NONE:
			return wake;
		case KU_STEER_PROBE:
			begin_round(m);
			break;
		case KU_STEER_STOP:
			learn_from_round(m);
			ku_probe_stop(&m->probe);
			break;
		case KU_STEER_KICK:
			kick(m);
			break;
		case KU_STEER_TO:
			steer_to(m, to, false);
			break;
		case KU_STEER_ANEW:
			steer_to(m, to, true);
			break;
		case KU_STEER_RESOLVE:
			start_lookup(m);
			break;
		}
	}
}

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Do all that is due, and set the timer for what comes next.  Returns false at
   the end. */
static bool manage(struct ku_manager *m)
{
	struct kustos_client *client = m->client;

	ku_lock(client);
	ku_run_timers(client);
	ku_unlock(client);
	int64_t wake = tend_lookup(m);
	ku_lock(client);
	observe(m);
	ku_unlock(client);
	wake = sooner(wake, steer(m));
	ku_session_reap(client);
	ku_dispatch_tend(client);
	if (!ku_close_step(client))
		return false;
	ku_lock(client);
	m->until_ns = sooner(wake, ku_timers_next(&client->timers));
	set_timer(m, m->until_ns);
	ku_unlock(client);
	return true;
}

static void manager_free(struct ku_manager *m)
{
	ku_lookup_abandon(m->lookup);
	ku_probe_stop(&m->probe);
	ku_addresses_free(&m->addresses);
	close(m->fd);
	free(m);
}

static void *manager_main(void *arg)
{
	struct ku_manager *m = arg;
	struct kustos_client *client = m->client;

	while (manage(m))
		sleep_on(m);
	if (client->self_free &&
		client->dispatch.mode == KUSTOS_DISPATCH_THREAD) {
		pthread_detach(pthread_self());
		manager_free(m);
		ku_client_free(client);
	}
	return NULL;
}

static enum kustos_err init(struct ku_manager *m)
{
	struct kustos_client *client = m->client;
	struct ku_addresses addresses;

	m->fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (m->fd < 0)
		return KUSTOS_ENOMEM;
	ku_random_init(&m->random);
	ku_steer_init(&m->steer, &m->random);
	ku_retry_start(&m->lookup_retry, &looking_up, ku_now(client));
	m->numeric = ku_resolve_numeric(&client->config.hosts, &addresses);
	if (m->numeric)
		use_addresses(m, &addresses);
	return m->numeric && client->addresses == NULL ? KUSTOS_ENOMEM
						       : KUSTOS_OK;
}

enum kustos_err ku_manager_start(struct kustos_client *client)
{
	struct ku_manager *m = calloc(1, sizeof(*m));

	if (m == NULL)
		return KUSTOS_ENOMEM;
	m->client = client;
	m->fd = -1;
	enum kustos_err err = init(m);
	if (err == KUSTOS_OK) {
		client->manager = m;
		if (!ku_thread_start(&m->thread, manager_main, m))
			err = KUSTOS_ENOMEM;
	}
	if (err != KUSTOS_OK) {
		client->manager = NULL;
		if (m->fd >= 0)
			manager_free(m);
		else
			free(m);
	}
	return err;
}

void ku_manager_join(struct kustos_client *client)
{
	struct ku_manager *m = client->manager;

	if (m == NULL)
		return;
	pthread_join(m->thread, NULL);
	client->manager = NULL;
	manager_free(m);
}
