/*
 * raw_floor.c - what the server and the wire cost at least: bare sockets that
 * send what a perfect lock would send, and do nothing else.
 *
 * Its styles, beside those of driver.h:
 *
 *	one	lock and unlock in 1 round trip: the node of the last time is
 *		deleted, a new one made and the line listed, in one flight
 *	two	in 2 round trips: made and listed in one flight, deleted in
 *		another
 *	deeds	in 2 round trips: made in one transaction, deleted in another,
 *		each of which changes a second node.  So an item is put, and
 *		taken, if no answer that is lost may lose it
 *	line	as "own", but nobody lists: each knows already who stands
 *		before it.  A turn takes one write and one event
 */
#include "clocks.h"
#include "driver.h"
#include "support/net.h"
#include "support/raw_conn.h"
#include "support/zkproto.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SESSION_MS 30000
#define PATIENCE_MS 10000
#define MAX_LINKS 64
#define CONTAINER 4
#define EPHEMERAL 1
#define EPHEMERAL_SEQUENTIAL 3
#define NODEEXISTS (-110)
#define XID_CREATE 1 /* of every create; what else is sent has 2 */
#define XID_DEED 3   /* but for transactions */
#define DEEDS 0	     /* as many trips as two, in place of their number */

struct link {
	int fd;
	struct raw_out out; /* requests of the next flight */
	char prefix[192];
	char node[256]; /* as long as one is there */
	int version;	/* of the receipt */
	bool creating;	/* its answer is not here yet */
	struct link *before;
};

static void begin(struct link *l, int xid, int op, const char *path)
{
	raw_out_begin(&l->out);
	raw_out_int(&l->out, xid);
	raw_out_int(&l->out, op);
	raw_out_string(&l->out, path);
}

static void put_read(struct link *l, int op, const char *path, bool watch)
{
	begin(l, 2, op, path);
	raw_out_byte(&l->out, watch);
	raw_out_end(&l->out);
}

static void put_delete(struct link *l)
{
	begin(l, 2, ZK_OP_DELETE, l->node);
	raw_out_int(&l->out, -1);
	raw_out_end(&l->out);
}

static void put_what_is_new(struct link *l, const char *data, int flags)
{
	raw_out_string(&l->out, data);
	raw_out_int(&l->out, 1); /* one ACL: everything for anyone */
	raw_out_int(&l->out, 31);
	raw_out_string(&l->out, "world");
	raw_out_string(&l->out, "anyone");
	raw_out_int(&l->out, flags);
}

static void put_new(struct link *l, int xid, int op, const char *path,
	const char *data, int flags)
{
	begin(l, xid, op, path);
	put_what_is_new(l, data, flags);
	raw_out_end(&l->out);
}

static void put_place(struct link *l)
{
	put_new(l, XID_CREATE, ZK_OP_CREATE2, l->prefix, "127.0.0.1",
		EPHEMERAL_SEQUENTIAL);
	l->creating = true;
}

/* What comes before each part of a transaction; -1 is behind the last. */
static void put_part(struct link *l, int op)
{
	raw_out_int(&l->out, op);
	raw_out_byte(&l->out, op < 0);
	raw_out_int(&l->out, -1);
}

/* Make l->node, or delete it; the receipt is the node with l->prefix as its path. */
static void put_deed(struct link *l, int op)
{
	raw_out_begin(&l->out);
	raw_out_int(&l->out, XID_DEED);
	raw_out_int(&l->out, ZK_OP_MULTI);
	put_part(l, ZK_OP_SET);
	raw_out_string(&l->out, l->prefix);
	raw_out_string(&l->out, "");
	raw_out_int(&l->out, l->version++);
	put_part(l, op);
	raw_out_string(&l->out, l->node);
	if (op == ZK_OP_DELETE)
		raw_out_int(&l->out, -1);
	else
		put_what_is_new(l, "127.0.0.1", 0);
	put_part(l, -1);
	raw_out_end(&l->out);
}

static int flight(struct link *l)
{
	int err = l->out.bad ? -1 : net_write(l->fd, l->out.data, l->out.len);

	l->out.len = 0;
	return err;
}

/* Read one frame and note the name of a new node.  Returns 0 or -1. */
static int hear(struct link *l, int32_t *xid, int32_t *rc)
{
	struct raw_in in;
	int err = raw_in_read(l->fd, &in);

	*xid = raw_in_int(&in);
	raw_in_long(&in);
	*rc = raw_in_int(&in);
	if (err == 0 && *xid == XID_CREATE) {
		int32_t len;
		const char *path = raw_in_buffer(&in, &len);

		if (path == NULL || (size_t)len >= sizeof(l->node))
			in.bad = true;
		else
			snprintf(l->node, sizeof(l->node), "%.*s", (int)len,
				path);
		l->creating = false;
	}
	/* A transaction that was refused says so in its parts. */
	if (err == 0 && *xid == XID_DEED && *rc == 0)
		*rc = raw_in_int(&in) == ZK_OP_SET ? 0 : -1;
	if (in.bad)
		err = -1;
	free(in.data);
	return err;
}

/* Send what is put, and wait for so many answers.  Returns 0 or -1. */
static int round_trip(struct link *l, int answers)
{
	int32_t xid, rc = 0;
	int err = flight(l);

	while (err == 0 && answers-- > 0) {
		err = hear(l, &xid, &rc);
		if (rc != 0 && rc != NODEEXISTS)
			err = -1;
	}
	return err;
}

static int link_open(struct link *l, const struct driver_run *run, int number)
{
	static const char no_password[RAW_PASSWORD];
	struct raw_in in = { 0 };
	int one = 1;
	int err = -1;

	snprintf(l->prefix, sizeof(l->prefix),
		"%s/_c_7b5ec9a2-11f3-4a7d-9d0e-%012d-lock-", run->path, number);
	l->fd = net_connect(run->hosts, PATIENCE_MS);
	if (l->fd < 0)
		return -1;
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	raw_out_connect(&l->out, SESSION_MS, 0, no_password);
	if (flight(l) == 0)
		err = raw_in_read(l->fd, &in);
	free(in.data);
	if (err < 0)
		return -1;
	put_new(l, 2, ZK_OP_CREATE_CONTAINER, run->path, "", CONTAINER);
	return round_trip(l, 1);
}

static void link_close(struct link *l)
{
	if (l->fd >= 0) {
		raw_out_begin(&l->out);
		raw_out_int(&l->out, 2);
		raw_out_int(&l->out, ZK_OP_CLOSE);
		raw_out_end(&l->out);
		(void)round_trip(l, 1);
		close(l->fd);
	}
	raw_out_free(&l->out);
}

static int deeds(struct link *l)
{
	if (l->version == 0) {
		put_new(l, 2, ZK_OP_CREATE2, l->prefix, "", EPHEMERAL);
		if (round_trip(l, 1) < 0)
			return -1;
		snprintf(l->node, sizeof(l->node), "%s-item", l->prefix);
	}
	put_deed(l, ZK_OP_CREATE2);
	if (round_trip(l, 1) < 0)
		return -1;
	put_deed(l, ZK_OP_DELETE);
	return round_trip(l, 1);
}

static int cycle(struct link *l, const char *parent, int trips)
{
	int answers = 2;

	if (trips == DEEDS)
		return deeds(l);
	if (trips == 1 && *l->node != '\0') {
		put_delete(l);
		answers++;
	}
	put_place(l);
	put_read(l, ZK_OP_CHILDREN2, parent, false);
	if (round_trip(l, answers) < 0)
		return -1;
	if (trips == 1)
		return 0;
	put_delete(l);
	return round_trip(l, 1);
}

static int cycles(struct link *l, const struct driver_run *run, int trips,
	int ms, struct driver_result *result)
{
	int64_t start = clocks_now_ns();
	int64_t end = start + ms * 1000000LL;

	result->ops = 0;
	while (clocks_now_ns() < end) {
		if (cycle(l, run->path, trips) < 0)
			return -1;
		result->ops++;
	}
	result->ns = clocks_now_ns() - start;
	return 0;
}

/* Leave the line's head for its end, which "last" has. */
static int give(struct link *l, struct link *last)
{
	put_delete(l);
	put_place(l);
	l->before = last;
	return flight(l);
}

/* Take one frame.  Returns 1 if "l" has its turn, 0 if not, -1 on failure. */
static int take(struct link *l)
{
	int32_t xid, rc;

	if (hear(l, &xid, &rc) < 0)
		return -1;
	if (xid == ZK_XID_EVENT || rc == -101) /* gone before we looked */
		return 1;
	if (rc != 0)
		return -1;
	if (xid == XID_CREATE && l->before != NULL) {
		/* Answers on different sockets may cross. */
		while (l->before->creating)
			if (take(l->before) != 0)
				return -1;
		put_read(l, ZK_OP_GET, l->before->node, true);
		return flight(l);
	}
	return 0;
}

static int line_up(struct link *links, int n)
{
	for (int i = 0; i < n; i++) {
		put_place(&links[i]);
		if (round_trip(&links[i], 1) < 0)
			return -1;
		if (i == 0)
			continue;
		put_read(&links[i], ZK_OP_GET, links[i - 1].node, true);
		if (round_trip(&links[i], 1) < 0)
			return -1;
	}
	return 0;
}

/* Serve the line, whose head is about to give, until "end". */
static int turns(struct link *links, int n, struct link **head,
	struct link **last, int64_t end)
{
	struct pollfd fds[MAX_LINKS];
	int count = 0;

	for (int i = 0; i < n; i++)
		fds[i] = (struct pollfd){ .fd = links[i].fd, .events = POLLIN };
	while (clocks_now_ns() < end) {
		if (*head != NULL) {
			if (give(*head, *last) < 0)
				return -1;
			*last = *head;
			*head = NULL;
			count++;
		}
		if (poll(fds, (nfds_t)n, PATIENCE_MS) <= 0)
			return -1;
		for (int i = 0; i < n; i++) {
			int turn = fds[i].revents ? take(&links[i]) : 0;

			if (turn < 0 || (turn == 1 && *head != NULL))
				return -1;
			if (turn == 1)
				*head = &links[i];
		}
	}
	return count;
}

static int line(struct link *links, const struct driver_run *run,
	struct driver_result *result)
{
	struct link *head = &links[0], *last = &links[run->sessions - 1];
	int64_t start;
	int count;

	if (strcmp(run->style, "line") != 0 || run->sessions < 3)
		return -1;
	if (line_up(links, run->sessions) < 0 ||
		turns(links, run->sessions, &head, &last,
			clocks_now_ns() + run->lead_ms * 1000000LL) < 0)
		return -1;
	start = clocks_now_ns();
	count = turns(links, run->sessions, &head, &last,
		start + run->ms * 1000000LL);
	result->ops = count;
	result->ns = clocks_now_ns() - start;
	return count < 0 ? -1 : 0;
}

static int alone(struct link *links, const struct driver_run *run, int trips,
	struct driver_result *result)
{
	if (cycles(links, run, trips, run->lead_ms, result) < 0)
		return -1;
	return cycles(links, run, trips, run->ms, result);
}

static int in_style(struct link *links, const struct driver_run *run,
	struct driver_result *result)
{
	for (int i = 0; i < run->sessions; i++)
		if (link_open(&links[i], run, i) < 0)
			return -1;
	if (strcmp(run->style, "one") == 0)
		return alone(links, run, 1, result);
	if (strcmp(run->style, "two") == 0)
		return alone(links, run, 2, result);
	if (strcmp(run->style, "deeds") == 0)
		return alone(links, run, DEEDS, result);
	return line(links, run, result);
}

static void measure(const struct driver_run *run, struct driver_result *result)
{
	struct link links[MAX_LINKS];

	if (run->sessions > MAX_LINKS) {
		result->error = "too many sessions";
		return;
	}
	memset(links, 0, sizeof(links));
	for (int i = 0; i < run->sessions; i++)
		links[i].fd = -1;
	if (in_style(links, run, result) < 0)
		result->error = "the server did not do as it was asked";
	for (int i = 0; i < run->sessions; i++)
		link_close(&links[i]);
}

int main(int argc, char **argv)
{
	return driver_main(argc, argv, measure);
}
