/*
 * test_probe.c - probes against sockets of this process.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "hosts.h"
#include "probe.h"
#include "resolve.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD "Zookeeper version: 3.8.0\nLatency min/avg/max: 0/0.0/0\n"

/* A server whose answer is this text; NULL: it accepts and is silent. */
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

/* Take one connection, hear the question, and answer in two pieces, with a
   step of the probe between them. */
static void serve(struct fake *fake, void (*step)(void))
{
	char question[5] = "";
	size_t half = strlen(fake->answer) / 2;
	int fd = accept(fake->listener, NULL, NULL);

	ck_assert_int_ge(fd, 0);
	step();
	ck_assert_int_eq(recv(fd, question, 4, MSG_WAITALL), 4);
	ck_assert_str_eq(question, "srvr");
	ck_assert_int_eq(send(fd, fake->answer, half, 0), (int)half);
	step();
	ck_assert_int_eq(
		send(fd, fake->answer + half, strlen(fake->answer) - half, 0),
		(int)(strlen(fake->answer) - half));
	close(fd);
}

static void start(const int *ports, int count)
{
	char text[256] = "", why[KU_HOSTS_WHY];
	struct ku_addresses addresses;
	struct ku_hosts hosts;
	int i;

	for (i = 0; i < count; i++)
		sprintf(text + strlen(text), "%s127.0.0.1:%d", i ? "," : "",
			ports[i]);
	ck_assert_int_eq(ku_hosts_parse(&hosts, text, why), KUSTOS_OK);
	ck_assert(ku_resolve_numeric(&hosts, &addresses));
	ck_assert_int_eq(ku_probe_start(&probe, &addresses), KUSTOS_OK);
	ku_addresses_free(&addresses);
	ku_hosts_free(&hosts);
}

/* Let the probe do what it can do at once. */
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
	enum ku_probe_verdict verdict;
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
	{ "HTTP/1.1 400 Bad Request\n", KU_PROBE_NOT_SERVING },
	{ "", KU_PROBE_NOT_SERVING },
};

START_TEST(an_answer_is_judged)
{
	struct fake fake;

	fake_start(&fake, answers[_i].answer);
	start(&fake.port, 1);
	serve(&fake, step);
	step();
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), answers[_i].verdict);
	ku_probe_stop(&probe);
}
END_TEST

START_TEST(an_endless_answer_is_none)
{
	char answer[900]; /* its first half alone is not too long */
	struct fake fake;

	memset(answer, 'x', sizeof(answer) - 1);
	answer[sizeof(answer) - 1] = '\0';
	fake_start(&fake, answer);
	start(&fake.port, 1);
	serve(&fake, step);
	step();
	ck_assert_int_eq(ku_probe_verdict(&probe, 0), KU_PROBE_NOT_SERVING);
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
	step();
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

int main(void)
{
	Suite *suite = suite_create("probe");
	TCase *tcase = tcase_create("round");

	tcase_add_loop_test(tcase, an_answer_is_judged, 0, UNIT_COUNT(answers));
	tcase_add_test(tcase, an_endless_answer_is_none);
	tcase_add_test(tcase, L04_a_silent_server_does_not_hold_up_the_others);
	tcase_add_test(tcase,
		descriptors_are_closed_on_exec_and_gone_between_rounds);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
