/*
 * test_zk_flow.c - zk_flow.h: what is kept, sent, read ahead and handed out, on a
 * socket that takes and gives as much as a test lets it.
 */
#include "unit.h"

#include "zk_flow.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct ku_zk_flow flow;
static int pair[2];
static int sends, reads;
static size_t room; /* so many bytes may be sent */
static int failure; /* the errno of a send, or 0 */

ssize_t __real_send(int fd, const void *data, size_t len, int flags);
ssize_t __real_recv(int fd, void *data, size_t len, int flags);

ssize_t __real_send(int fd, const void *data, size_t len, int flags)
{
	sends++;
	ck_assert_int_ne(flags & MSG_NOSIGNAL, 0);
	if (failure != 0 || room == 0) {
		errno = failure != 0 ? failure : EAGAIN;
		return -1;
	}
	if (len > room)
		len = room;
	room -= len;
	return send(fd, data, len, MSG_NOSIGNAL);
}

ssize_t __real_recv(int fd, void *data, size_t len, int flags)
{
	reads++;
	return recv(fd, data, len, flags | MSG_DONTWAIT);
}

static void set_up(void)
{
	memset(&flow, 0, sizeof(flow));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	sends = reads = failure = 0;
	room = SIZE_MAX;
}

static void tear_down(void)
{
	close(pair[0]);
	close(pair[1]);
}

static ssize_t give(const char *text)
{
	return ku_zk_flow_send(&flow, pair[0], text, strlen(text));
}

static void expect_sent(const char *text)
{
	char got[64];
	ssize_t n = recv(pair[1], got, sizeof(got), MSG_DONTWAIT);

	ck_assert_int_eq(n, *text != '\0' ? (ssize_t)strlen(text) : -1);
	ck_assert_int_eq(strncmp(got, text, strlen(text)), 0);
}

START_TEST(requests_go_out_together_when_they_are_pushed)
{
	ck_assert_int_eq(give("one "), 4);
	ck_assert_int_eq(give("two"), 3);
	ck_assert_int_eq(sends, 0);
	ck_assert(ku_zk_flow_push(&flow));
	expect_sent("one two");
	ck_assert(ku_zk_flow_push(&flow));
	ck_assert_int_eq(sends, 1);
	ck_assert(!flow.stuck);
}
END_TEST

START_TEST(L22_what_finds_no_room_stays_in_order)
{
	room = 5;
	give("one ");
	give("two ");
	ck_assert(!ku_zk_flow_push(&flow));
	ck_assert(flow.stuck);
	expect_sent("one t");
	give("three");
	ck_assert(!ku_zk_flow_push(&flow));
	expect_sent("");
	room = SIZE_MAX;
	ck_assert(ku_zk_flow_push(&flow));
	expect_sent("wo three");
}
END_TEST

/* Something as large as all the room that there is to keep it, or larger. */
static const size_t large[] = { KU_ZK_FLOW_ROOM, KU_ZK_FLOW_ROOM + 1 };

START_TEST(L22_what_is_too_large_to_be_kept_goes_after_what_is_kept)
{
	char *data = calloc(1, large[_i]), *got = malloc(large[_i] + 4);

	give("head");
	room = 2;
	ck_assert_int_eq(ku_zk_flow_send(&flow, pair[0], data, large[_i]), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert(flow.stuck);
	room = SIZE_MAX;
	ck_assert_int_eq(ku_zk_flow_send(&flow, pair[0], data, large[_i]),
		(ssize_t)large[_i]);
	ck_assert(ku_zk_flow_push(&flow));
	ck_assert_int_eq(recv(pair[1], got, large[_i] + 4, MSG_WAITALL),
		(ssize_t)large[_i] + 4);
	ck_assert_int_eq(memcmp(got, "head", 4), 0);
	ck_assert_int_eq(memcmp(got + 4, data, large[_i]), 0);
	free(data);
	free(got);
}
END_TEST

START_TEST(many_requests_are_sent_as_the_room_fills)
{
	char request[1000] = { 0 };
	size_t total = 0;

	while (sends < 3) {
		ck_assert_int_eq(ku_zk_flow_send(&flow, pair[0], request,
					 sizeof(request)),
			sizeof(request));
		total += sizeof(request);
	}
	ck_assert_uint_gt(total, 3 * (KU_ZK_FLOW_ROOM - sizeof(request)));
}
END_TEST

START_TEST(at_the_end_nothing_is_kept)
{
	give("one ");
	flow.at_once = true;
	ck_assert_int_eq(give("end"), 3);
	expect_sent("one end");
	failure = EPIPE;
	ck_assert_int_eq(give("more"), -1);
	ck_assert_int_eq(errno, EPIPE);
}
END_TEST

START_TEST(L01_a_send_that_fails_breaks_the_connection)
{
	char byte;

	failure = ENOBUFS;
	give("one");
	ck_assert(!ku_zk_flow_push(&flow));
	ck_assert_int_eq(recv(pair[1], &byte, 1, 0), 0);
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], &byte, 1), 0);
	ku_zk_flow_reset(&flow);
	failure = 0;
	ck_assert(ku_zk_flow_push(&flow));
	ck_assert_int_eq(sends, 1);
}
END_TEST

static void arrive(const char *text)
{
	ck_assert_int_eq(send(pair[1], text, strlen(text), 0),
		(ssize_t)strlen(text));
}

static void expect(const char *text)
{
	char got[16];

	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], got, strlen(text)),
		(ssize_t)strlen(text));
	ck_assert_int_eq(strncmp(got, text, strlen(text)), 0);
}

START_TEST(what_has_arrived_is_read_at_once)
{
	char byte;

	arrive("one");
	arrive("two");
	expect("o");
	ck_assert(ku_zk_flow_has(&flow));
	expect("ne");
	expect("two");
	ck_assert_int_eq(reads, 1);
	ck_assert(!ku_zk_flow_has(&flow));
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], &byte, 1), -1);
	ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

START_TEST(more_than_there_is_room_for_is_not_forgotten)
{
	static char data[KU_ZK_FLOW_ROOM + 1], got[KU_ZK_FLOW_ROOM];

	ck_assert_int_eq(send(pair[1], data, sizeof(data), 0), sizeof(data));
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], got, 1), 1);
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], got, sizeof(got)),
		sizeof(got) - 1);
	ck_assert(ku_zk_flow_has(&flow));
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], got, 1), 1);
	ck_assert(!ku_zk_flow_has(&flow));
}
END_TEST

START_TEST(what_is_large_is_read_to_where_it_belongs)
{
	static char data[KU_ZK_FLOW_ROOM], got[KU_ZK_FLOW_ROOM];

	memset(data, 'x', sizeof(data));
	ck_assert_int_eq(send(pair[1], data, sizeof(data), 0), sizeof(data));
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], got, sizeof(got)),
		sizeof(got));
	ck_assert_int_eq(memcmp(data, got, sizeof(got)), 0);
	ck_assert_uint_eq(flow.end, 0);
}
END_TEST

START_TEST(another_connection_has_nothing_of_the_last)
{
	char byte;

	give("request");
	arrive("answer");
	expect("a");
	ku_zk_flow_reset(&flow);
	ck_assert(!ku_zk_flow_has(&flow));
	ck_assert_int_eq(ku_zk_flow_recv(&flow, pair[0], &byte, 1), -1);
	ck_assert(ku_zk_flow_push(&flow));
	ck_assert_int_eq(sends, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zk_flow");
	TCase *t = tcase_create("core");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, requests_go_out_together_when_they_are_pushed);
	tcase_add_test(t, L22_what_finds_no_room_stays_in_order);
	tcase_add_loop_test(t,
		L22_what_is_too_large_to_be_kept_goes_after_what_is_kept, 0,
		UNIT_COUNT(large));
	tcase_add_test(t, many_requests_are_sent_as_the_room_fills);
	tcase_add_test(t, at_the_end_nothing_is_kept);
	tcase_add_test(t, L01_a_send_that_fails_breaks_the_connection);
	tcase_add_test(t, what_has_arrived_is_read_at_once);
	tcase_add_test(t, more_than_there_is_room_for_is_not_forgotten);
	tcase_add_test(t, what_is_large_is_read_to_where_it_belongs);
	tcase_add_test(t, another_connection_has_nothing_of_the_last);
	suite_add_tcase(s, t);
	return unit_main(s);
}
