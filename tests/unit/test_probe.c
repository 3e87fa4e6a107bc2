/*
 * test_probe.c - probe.h: probes of servers, which are sockets of this process.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "hosts.h"
#include "probe.h"
#include "resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define HEAD "Zookeeper version: 3.8.0\nLatency min/avg/max: 0/0.0/0\n"

/* A server that answers with this text; with NULL it accepts and is silent. */
struct fake {
	int listener, port;
	const char *answer;
};

static struct ku_probe probe;

static void fake_start(struct fake *fake, const char *answer)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	fake->answer = answer;
	fake->listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(fake->listener, (struct sockaddr *)&address,
				 sizeof(address)),
		0);
	ck_assert_int_eq(listen(fake->listener, 5), 0);
	ck_assert_int_eq(
		getsockname(fake->listener, (struct sockaddr *)&address, &len),
		0);
	fake->port = ntohs(address.sin_port);
}

/* So much of an answer comes last, so that the decisive part is in two
   pieces. */
#define TAIL 18

/* Accept one connection, read the question, and answer in two pieces, with a
   step of the probe after each.  Returns the connection. */
static int serve_open(struct fake *fake, void (*step)(void))
{
	char question[5] = "";
	size_t len = strlen(fake->answer);
	size_t first = len > TAIL ? len - TAIL : 0;
	int fd = accept(fake->listener, NULL, NULL);

	ck_assert_int_ge(fd, 0);
	step();
	ck_assert_int_eq(recv(fd, question, 4, MSG_WAITALL), 4);
	ck_assert_str_eq(question, "srvr");
	ck_assert_int_eq(send(fd, fake->answer, first, 0), (int)first);
	step();
	ck_assert_int_eq(send(fd, fake->answer + first, len - first, 0),
		(int)(len - first));
	step();
	return fd;
}

static void serve(struct fake *fake, void (*step)(void))
{
	close(serve_open(fake, step));
	step();
}

/* The addresses of the servers at these ports. */
static void find(struct ku_addresses *addresses, const int *ports, int count)
{
	char text[256] = "", why[KU_HOSTS_WHY];
	struct ku_hosts hosts;
	int i;

	for (i = 0; i < count; i++)
		sprintf(text + strlen(text), "%s127.0.0.1:%d", i ? "," : "",
			ports[i]);
	ck_assert_int_eq(ku_hosts_parse(&hosts, text, why), KUSTOS_OK);
	ck_assert(ku_resolve_numeric(&hosts, addresses));
	ku_hosts_free(&hosts);
}

static void start(const int *ports, int count)
{
	struct ku_addresses addresses;

	find(&addresses, ports, count);
	ck_assert_int_eq(ku_probe_start(&probe, &addresses), KUSTOS_OK);
	ku_addresses_free(&addresses);
}

/* Let the probe do whatever it can do at once. */
static void step(void)
{
	struct pollfd fds[KU_PROBE_MAX];
	int i, n;

	for (i = 0; i < 20; i++) {
		n = ku_probe_poll(&probe, fds);
		if (n == 0 || poll(fds, (nfds_t)n, 1) <= 0)
			return;
		ku_probe_step(&probe, fds, n);
	}
}

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static const struct {
	const char *answer;
	enum ku_probe_verdict verdict; /* before the connection is closed */
} answers[] = {
	{ HEAD "Mode: leader\nNode count: 5\n", KU_PROBE_LIVE },
	{ HEAD "Mode: follower\nNode count: 5\n", KU_PROBE_LIVE },
	{ HEAD "Mode: standalone\nNode count: 5\n", KU_PROBE_LIVE },
	{ HEAD "Mode: observer\nNode count: 5\n", KU_PROBE_LIVE },
	{ "srvr is not executed because it is not in the whitelist.\n",
		KU_PROBE_LIVE },
	{ HEAD "Mode: read-only\nNode count: 5\n", KU_PROBE_NOT_SERVING },
	{ "This ZooKeeper instance is not currently serving requests\n",
		KU_PROBE_NOT_SERVING },
	{ "HTTP/1.1 400 Bad Request\n", KU_PROBE_UNKNOWN },
	{ "", KU_PROBE_UNKNOWN },
};

START_TEST(an_answer_is_judged)
{
	enum ku_probe_verdict verdict = answers[_i].verdict;
	struct pollfd fds[KU_PROBE_MAX];
	struct fake fake;

	fake_start(&fake, answers[_i].answer);
	start(&fake.port, 1);
	int fd = serve_open(&fake, step);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), verdict);
	close(fd);
	step();
	if (verdict == KU_PROBE_UNKNOWN)
		verdict = KU_PROBE_NOT_SERVING;
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), verdict);
	ck_assert_int_eq(ku_probe_poll(&probe, fds), 0);
	ku_probe_stop(&probe);
}
END_TEST

START_TEST(an_endless_answer_is_none)
{
	/* Without its second piece it is not too long. */
	char answer[500 + TAIL + 1];
	struct fake fake;

	memset(answer, 'x', sizeof(answer) - 1);
	answer[sizeof(answer) - 1] = '\0';
	fake_start(&fake, answer);
	start(&fake.port, 1);
	int fd = serve_open(&fake, step);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_NOT_SERVING);
	close(fd);
	ku_probe_stop(&probe);
}
END_TEST

START_TEST(L04_a_silent_server_does_not_hold_up_the_others)
{
	struct fake silent, live, closed;
	int ports[3];

	fake_start(&silent, NULL);
	fake_start(&closed, NULL);
	fake_start(&live, HEAD "Mode: follower\n");
	close(closed.listener);
	ports[0] = silent.port;
	ports[1] = closed.port;
	ports[2] = live.port;
	start(ports, 3);
	serve(&live, step);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_UNKNOWN);
	ck_assert_int_eq(ku_probe_verdict(&probe, 1), KU_PROBE_REFUSED);
	ck_assert_int_eq(ku_probe_verdict(&probe, 2), KU_PROBE_LIVE);
	ku_probe_stop(&probe);
	ck_assert_int_eq(ku_probe_verdict(&probe, 2), KU_PROBE_UNKNOWN);
}
END_TEST

START_TEST(descriptors_are_closed_on_exec_and_gone_between_rounds)
{
	struct pollfd fds[KU_PROBE_MAX];
	struct fake fake;
	int before;

	fake_start(&fake, NULL);
	before = open_fds();
	start(&fake.port, 1);
	ck_assert_int_eq(open_fds(), before + 1);
	ck_assert_int_eq(ku_probe_poll(&probe, fds), 1);
	ck_assert_int_eq(fcntl(fds[0].fd, F_GETFD), FD_CLOEXEC);
	step();
	ku_probe_stop(&probe);
	ck_assert_int_eq(open_fds(), before);
	ck_assert_int_eq(ku_probe_poll(&probe, fds), 0);
	ku_probe_stop(&probe);
}
END_TEST

/* Three servers, and descriptors for only one of them. */
START_TEST(who_cannot_be_asked_for_want_of_descriptors_is_not_known)
{
	struct ku_addresses addresses;
	struct fake fakes[3];
	struct rlimit limit;
	int ports[3], i;

	for (i = 0; i < 3; i++) {
		fake_start(&fakes[i], HEAD "Mode: leader\n");
		ports[i] = fakes[i].port;
	}
	find(&addresses, ports, 3);
	int lowest = dup(0);
	ck_assert_int_gt(lowest, 0);
	close(lowest);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	rlim_t old = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)lowest + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	errno = 0;
	enum kustos_err err = ku_probe_start(&probe, &addresses);
	int why = errno;
	limit.rlim_cur = old;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(err, KUSTOS_ENOMEM);
	ck_assert_int_eq(why, EMFILE);
	serve(&fakes[0], step);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_LIVE);
	ck_assert_int_eq(ku_probe_verdict(&probe, 1), KU_PROBE_UNKNOWN);
	ck_assert_int_eq(ku_probe_verdict(&probe, 2), KU_PROBE_UNKNOWN);
	ku_probe_stop(&probe);
	ku_addresses_free(&addresses);
}
END_TEST

/* As IPv6 may be: this is no lack of resources, and the others are probed. */
START_TEST(an_address_of_a_family_that_is_not_there_is_not_known)
{
	struct ku_addresses addresses;
	struct fake fakes[2];
	int ports[2];

	fake_start(&fakes[0], NULL);
	fake_start(&fakes[1], HEAD "Mode: leader\n");
	ports[0] = fakes[0].port;
	ports[1] = fakes[1].port;
	find(&addresses, ports, 2);
	addresses.list[0].storage.ss_family = 999;
	ck_assert_int_eq(ku_probe_start(&probe, &addresses), KUSTOS_OK);
	serve(&fakes[1], step);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_UNKNOWN);
	ck_assert_int_eq(ku_probe_verdict(&probe, 1), KU_PROBE_LIVE);
	ku_probe_stop(&probe);
	ku_addresses_free(&addresses);
}
END_TEST

START_TEST(no_more_are_asked_than_there_is_room_for)
{
	struct pollfd fds[KU_PROBE_MAX + 1];
	struct ku_address list[KU_PROBE_MAX + 1];
	const struct ku_addresses all = { KU_PROBE_MAX + 1, list };
	struct ku_addresses one;
	struct fake fake;
	int i;

	fake_start(&fake, NULL);
	find(&one, &fake.port, 1);
	for (i = 0; i < all.count; i++)
		list[i] = one.list[0];
	ck_assert_int_eq(ku_probe_start(&probe, &all), KUSTOS_OK);
	ck_assert_int_eq(ku_probe_poll(&probe, fds), KU_PROBE_MAX);
	ck_assert_int_eq(ku_probe_verdict(&probe, KU_PROBE_MAX),
		KU_PROBE_UNKNOWN);
	ku_probe_stop(&probe);
	ku_addresses_free(&one);
}
END_TEST

/* There is nothing to read yet, or poll() was interrupted. */
START_TEST(a_wake_for_nothing_is_no_answer)
{
	struct pollfd fds[KU_PROBE_MAX];
	struct fake fake;

	fake_start(&fake, HEAD "Mode: leader\n");
	start(&fake.port, 1);
	step();
	fds[0].revents = POLLIN;
	ck_assert_int_eq(ku_probe_poll(&probe, fds), 1);
	ck_assert_int_eq(fds[0].revents, 0);
	ck_assert_int_eq(fds[0].events, POLLIN);
	fds[0].revents = POLLIN;
	ku_probe_step(&probe, fds, 1);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_UNKNOWN);
	serve(&fake, step);
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_LIVE);
	ku_probe_stop(&probe);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probe");
	TCase *tcase = tcase_create("round");

	tcase_add_loop_test(tcase, an_answer_is_judged, 0, UNIT_COUNT(answers));
	tcase_add_test(tcase, an_endless_answer_is_none);
	tcase_add_test(tcase, L04_a_silent_server_does_not_hold_up_the_others);
	tcase_add_test(tcase,
		descriptors_are_closed_on_exec_and_gone_between_rounds);
	tcase_add_test(tcase,
		who_cannot_be_asked_for_want_of_descriptors_is_not_known);
	tcase_add_test(tcase,
		an_address_of_a_family_that_is_not_there_is_not_known);
	tcase_add_test(tcase, no_more_are_asked_than_there_is_room_for);
	tcase_add_test(tcase, a_wake_for_nothing_is_no_answer);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
