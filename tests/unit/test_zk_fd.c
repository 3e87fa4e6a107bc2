/*
 * test_zk_fd.c - zk_fd.h: find one socket among many to the same server.
 */
#define _GNU_SOURCE
#include "unit.h"

#include "zk_fd.h"

#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define CLIENTS 3

static union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6; /* no more than this is read */
} server;
static int listener, clients[CLIENTS], servers[CLIENTS];
static struct ku_zk_fd f;

static int make_client(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, &server.any, sizeof(server.in)), 0);
	return fd;
}

static void set_up(void)
{
	socklen_t len = sizeof(server.in);
	int i;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	memset(&server, 0, sizeof(server));
	server.in.sin_family = AF_INET;
	server.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(listener, &server.any, sizeof(server.in)), 0);
	ck_assert_int_eq(listen(listener, 10), 0);
	ck_assert_int_eq(getsockname(listener, &server.any, &len), 0);
	for (i = 0; i < CLIENTS; i++) {
		clients[i] = make_client();
		servers[i] = accept(listener, NULL, NULL);
		ck_assert_int_ge(servers[i], 0);
	}
	memset(&f, 0, sizeof(f));
}

static void close_all_clients_but(int kept)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		if (i != kept)
			close(clients[i]);
}

static void scan(void)
{
	ku_zk_fd_scan(&f, &server.any);
}

/* Send one request on client "i" and wait for its reply. */
static void exchange(int i)
{
	char buffer[32] = "a request of thirty-two bytes..";

	ck_assert_int_eq(write(clients[i], buffer, sizeof(buffer)),
		sizeof(buffer));
	ck_assert_int_eq(recv(servers[i], buffer, sizeof(buffer), MSG_WAITALL),
		sizeof(buffer));
	ck_assert_int_eq(write(servers[i], buffer, sizeof(buffer)),
		sizeof(buffer));
	ck_assert_int_eq(recv(clients[i], buffer, sizeof(buffer), MSG_WAITALL),
		sizeof(buffer));
}

/* Return whether the peer of client "i" sees the end of the connection. */
static bool ended(int i)
{
	struct pollfd p = { .fd = servers[i], .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

START_TEST(the_only_socket_is_the_one)
{
	close_all_clients_but(1);
	scan();
	ck_assert_int_eq(f.count, 1);
	ck_assert(!ku_zk_fd_begin(&f));
	ck_assert(ku_zk_fd_shutdown(&f));
	ck_assert(ended(1));
}
END_TEST

START_TEST(whether_any_is_connected_can_be_asked)
{
	ck_assert(ku_zk_fd_connected(&server.any));
	close_all_clients_but(CLIENTS);
	ck_assert(!ku_zk_fd_connected(&server.any));
}
END_TEST

START_TEST(sockets_in_doubt_are_not_touched)
{
	int i;

	scan();
	ck_assert_int_eq(f.count, CLIENTS);
	ck_assert(!ku_zk_fd_shutdown(&f));
	for (i = 0; i < CLIENTS; i++)
		ck_assert(!ended(i));
}
END_TEST

START_TEST(the_one_that_carried_a_request_is_the_one)
{
	scan();
	ck_assert(ku_zk_fd_begin(&f));
	exchange(2);
	ku_zk_fd_end(&f);
	ck_assert(ku_zk_fd_shutdown(&f));
	ck_assert(ended(2));
	ck_assert(!ended(0));
	ck_assert(!ended(1));
}
END_TEST

START_TEST(two_rounds_tell_what_one_does_not)
{
	scan();
	ck_assert(ku_zk_fd_begin(&f));
	ck_assert(!ku_zk_fd_begin(&f));
	exchange(0);
	exchange(2);
	ku_zk_fd_end(&f);
	ck_assert(!ku_zk_fd_shutdown(&f));
	ck_assert(ku_zk_fd_begin(&f));
	exchange(1);
	exchange(2);
	ku_zk_fd_end(&f);
	ck_assert(ku_zk_fd_shutdown(&f));
	ck_assert(ended(2));
	ck_assert(!ended(0));
	ck_assert(!ended(1));
}
END_TEST

START_TEST(a_round_without_a_reply_tells_nothing)
{
	scan();
	ck_assert(ku_zk_fd_begin(&f));
	exchange(2);
	ku_zk_fd_give_up(&f);
	ku_zk_fd_end(&f);
	ck_assert_int_eq(f.count, CLIENTS);
}
END_TEST

START_TEST(a_socket_of_the_program_with_the_same_number_is_not_touched)
{
	close_all_clients_but(0);
	scan();
	ck_assert_int_eq(f.count, 1);
	close(clients[0]);
	ck_assert_int_eq(make_client(), clients[0]);
	servers[1] = accept(listener, NULL, NULL);
	ck_assert(!ku_zk_fd_shutdown(&f));
	ck_assert(!ended(1));
}
END_TEST

START_TEST(after_reset_nothing_is_touched)
{
	close_all_clients_but(0);
	scan();
	ku_zk_fd_reset(&f);
	ck_assert(!ku_zk_fd_shutdown(&f));
	ck_assert(!ended(0));
}
END_TEST

START_TEST(too_many_sockets_are_none)
{
	int i;

	for (i = 0; i < KU_ZK_FD_MAX; i++) {
		make_client();
		ck_assert_int_ge(accept(listener, NULL, NULL), 0);
	}
	scan();
	ck_assert_int_eq(f.count, 0);
	ck_assert(!ku_zk_fd_shutdown(&f));
}
END_TEST

START_TEST(other_kinds_of_socket_are_not_taken)
{
	int udp = socket(AF_INET, SOCK_DGRAM, 0);

	ck_assert_int_eq(connect(udp, &server.any, sizeof(server.in)), 0);
	close_all_clients_but(0);
	scan();
	ck_assert_int_eq(f.count, 1);
	ck_assert_int_eq(f.candidates[0].fd, clients[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("zk_fd");
	TCase *tcase = tcase_create("find");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, the_only_socket_is_the_one);
	tcase_add_test(tcase, whether_any_is_connected_can_be_asked);
	tcase_add_test(tcase, sockets_in_doubt_are_not_touched);
	tcase_add_test(tcase, the_one_that_carried_a_request_is_the_one);
	tcase_add_test(tcase, two_rounds_tell_what_one_does_not);
	tcase_add_test(tcase, a_round_without_a_reply_tells_nothing);
	tcase_add_test(tcase,
		a_socket_of_the_program_with_the_same_number_is_not_touched);
	tcase_add_test(tcase, after_reset_nothing_is_touched);
	tcase_add_test(tcase, too_many_sockets_are_none);
	tcase_add_test(tcase, other_kinds_of_socket_are_not_taken);
	suite_add_tcase(suite, tcase);
	return unit_main(suite);
}
