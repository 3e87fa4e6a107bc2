/*
 * proxy_link.c - one connection through the proxy.
 *
 * Bytes that arrive are collected in "in" until a frame is complete.  Then the
 * rules decide what becomes of it.  Frames that pass are queued in chunks, in
 * order, each with the time when it is due.
 */
#include "proxy_link.h"
#include "net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE 65536
#define FRAME_MAX (64 << 20) /* if longer, it is a word and no frame */

struct chunk {
	struct chunk *next;
	int64_t due_us;
	size_t off;
	size_t len;
	char data[];
};

struct stream {
	char *in;
	size_t in_len;
	size_t in_size;
	struct chunk *head;
	struct chunk **tail;
	bool greeted; /* the handshake has passed */
	bool ended;   /* the sender has closed */
	bool end_sent;
};

struct link {
	int fd[2]; /* destination of each way: TO_SERVER, TO_CLIENT */
	struct stream way[2];
	bool raw; /* a four letter word, or not ZooKeeper's protocol */
	bool lost;
	enum proxy_fault victim; /* the fault for the reply to "victim_xid" */
	int32_t victim_xid;
	bool victim_greets; /* the victim is the handshake */
};

enum verdict { FORWARD, SWALLOW, CUT };

struct link *link_new(int client, int server)
{
	struct link *l = calloc(1, sizeof(*l));
	int on = 1;

	if (l == NULL) {
		close(client);
		if (server >= 0)
			close(server);
		return NULL;
	}
	l->fd[TO_CLIENT] = client;
	l->fd[TO_SERVER] = server;
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (server >= 0)
		setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	l->lost = server < 0;
	l->way[0].tail = &l->way[0].head;
	l->way[1].tail = &l->way[1].head;
	return l;
}

static void drop_queue(struct stream *s)
{
	while (s->head != NULL) {
		struct chunk *next = s->head->next;

		free(s->head);
		s->head = next;
	}
	s->tail = &s->head;
}

void link_free(struct link *l)
{
	for (int i = 0; i < 2; i++) {
		/* A forked process may have a copy, so that close() alone would
		   not end the connection. */
		if (l->fd[i] >= 0) {
			shutdown(l->fd[i], SHUT_RDWR);
			close(l->fd[i]);
		}
		drop_queue(&l->way[i]);
		free(l->way[i].in);
	}
	free(l);
}

bool link_lost(const struct link *l)
{
	return l->lost;
}

static bool matches(const struct proxy_rules *r, int op)
{
	return r->fault_op == op ||
		(r->fault_op == PROXY_ANY && op != ZK_OP_PING &&
			op != ZK_OP_CONNECT);
}

static enum verdict judge_request(struct link *l, struct proxy_rules *r,
	const char *frame, bool greeting)
{
	int op = greeting ? ZK_OP_CONNECT : zk_get32(frame + 8);

	if (op < ZK_OP_MIN || op > ZK_OP_MAX)
		return FORWARD;
	r->counts[op - ZK_OP_MIN]++;
	if (r->fault == PROXY_NO_FAULT || r->fault == PROXY_DROP_EVENT ||
		!matches(r, op) || --r->fault_left > 0)
		return FORWARD;
	if (r->fault == PROXY_LOSE_REQUEST) {
		r->fired++;
		r->fault = PROXY_NO_FAULT;
		return CUT;
	}
	l->victim = r->fault;
	l->victim_xid = greeting ? 0 : zk_get32(frame + 4);
	l->victim_greets = greeting;
	r->fault = PROXY_NO_FAULT;
	return FORWARD;
}

static enum verdict judge_reply(struct link *l, struct proxy_rules *r,
	const char *frame, bool greeting)
{
	int32_t xid = zk_get32(frame + 4);
	enum verdict v;

	if (!greeting && xid == ZK_XID_EVENT) {
		r->events++;
		if (r->fault != PROXY_DROP_EVENT || --r->fault_left > 0)
			return FORWARD;
		r->fired++;
		r->fault = PROXY_NO_FAULT;
		return SWALLOW;
	}
	if (l->victim == PROXY_NO_FAULT || l->victim_greets != greeting ||
		(!greeting && l->victim_xid != xid))
		return FORWARD;
	if (l->victim == PROXY_HOLD_REPLY) {
		r->mode = PROXY_HOLD;
		v = FORWARD;
	} else {
		v = l->victim == PROXY_LOSE_REPLY ? CUT : SWALLOW;
	}
	l->victim = PROXY_NO_FAULT;
	r->fired++;
	return v;
}

static bool push(struct stream *s, const char *data, size_t len, int delay_ms)
{
	struct chunk *c = malloc(sizeof(*c) + len);

	if (c == NULL)
		return false;
	c->next = NULL;
	c->due_us = delay_ms > 0 ? test_now_us() + delay_ms * INT64_C(1000) : 0;
	c->off = 0;
	c->len = len;
	memcpy(c->data, data, len);
	*s->tail = c;
	s->tail = &c->next;
	return true;
}

/* Send what is due.  Returns false if the connection is broken. */
static bool give_out(struct link *l, enum proxy_way way)
{
	struct stream *s = &l->way[way];
	int to = l->fd[way];

	while (s->head != NULL && s->head->due_us <= test_now_us()) {
		struct chunk *c = s->head;
		ssize_t n = net_send(to, c->data + c->off, c->len - c->off);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		c->off += (size_t)n;
		if (c->off < c->len)
			return true;
		s->head = c->next;
		if (s->head == NULL)
			s->tail = &s->head;
		free(c);
	}
	if (s->ended && s->head == NULL && !s->end_sent) {
		shutdown(to, SHUT_WR);
		s->end_sent = true;
	}
	return true;
}

/* Return the length of the frame at the start of "in", 0 if it is
   incomplete. */
static size_t frame_length(struct link *l, const struct stream *s, size_t off)
{
	size_t have = s->in_len - off;
	int32_t len;

	if (l->raw)
		return have;
	if (have < 4)
		return 0;
	len = zk_get32(s->in + off);
	if (len < 0 || len > FRAME_MAX) {
		l->raw = true;
		return have;
	}
	return have < (size_t)len + 4 ? 0 : (size_t)len + 4;
}

/* Apply the rules to all complete frames, and queue what passes.  Returns false
   for a cut. */
static bool sort_out(struct link *l, struct proxy_rules *r, enum proxy_way way)
{
	struct stream *s = &l->way[way];
	size_t off = 0;
	size_t n;

	while (off < s->in_len && (n = frame_length(l, s, off)) > 0) {
		const char *frame = s->in + off;
		enum verdict v = FORWARD;

		if (!l->raw && n >= 12)
			v = way == TO_SERVER
				? judge_request(l, r, frame, !s->greeted)
				: judge_reply(l, r, frame, !s->greeted);
		s->greeted = true;
		if (v == CUT) {
			give_out(l, way); /* send what came before the cut */
			return false;
		}
		if (v == FORWARD && !push(s, frame, n, r->delay_ms[way]))
			return false;
		off += n;
	}
	memmove(s->in, s->in + off, s->in_len - off);
	s->in_len -= off;
	return true;
}

/* Read once.  Returns false if the connection is broken. */
static bool take_in(struct link *l, enum proxy_way way, bool swallow)
{
	struct stream *s = &l->way[way];
	int from = l->fd[1 - way];
	ssize_t n;

	if (s->in_size - s->in_len < READ_SIZE) {
		size_t size = s->in_len * 2 + READ_SIZE;
		char *in = realloc(s->in, size);

		if (in == NULL)
			return false;
		s->in = in;
		s->in_size = size;
	}
	n = read(from, s->in + s->in_len, READ_SIZE);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR || swallow;
	if (n == 0)
		s->ended = true;
	if (swallow)
		l->lost = true;
	else
		s->in_len += (size_t)n;
	return true;
}

/* Does "way" have something to send?  Shorten the timeout to when that is
   due. */
static bool must_write(const struct stream *s, int *timeout_ms)
{
	int64_t wait_us;

	if (s->head == NULL)
		return false;
	wait_us = s->head->due_us - test_now_us();
	if (wait_us <= 0)
		return true;
	if (*timeout_ms < 0 || wait_us / 1000 + 1 < *timeout_ms)
		*timeout_ms = (int)(wait_us / 1000 + 1);
	return false;
}

void link_want(const struct link *l, const struct proxy_rules *rules,
	struct pollfd *fds, int *timeout_ms)
{
	for (int i = 0; i < 2; i++) {
		short events = 0;

		if (rules->mode != PROXY_HOLD && !l->way[1 - i].ended)
			events |= POLLIN;
		if (rules->mode != PROXY_HOLD && rules->mode != PROXY_HOLE &&
			must_write(&l->way[i], timeout_ms))
			events |= POLLOUT;
		/* With no event asked for, poll() would still report a
		   hang-up again and again. */
		fds[i].fd = events == 0 ? -1 : l->fd[i];
		fds[i].events = events;
		fds[i].revents = 0;
	}
}

/* Drop everything from both ends.  If one end breaks, the other does not learn
   it. */
static void step_hole(struct link *l, const struct pollfd *fds)
{
	for (int i = 0; i < 2; i++) {
		if (l->way[i].head != NULL || l->way[i].in_len > 0)
			l->lost = true;
		drop_queue(&l->way[i]);
		if (fds[1 - i].revents == 0 || l->way[i].ended)
			continue;
		take_in(l, (enum proxy_way)i, true);
		if ((fds[1 - i].revents & (POLLERR | POLLHUP)) != 0) {
			l->way[i].ended = true;
			l->lost = true;
		}
	}
}

bool link_step(struct link *l, struct proxy_rules *rules,
	const struct pollfd *fds)
{
	if (rules->kind == PROXY_RAW)
		l->raw = true;
	if (rules->mode == PROXY_HOLE) {
		step_hole(l, fds);
		return true;
	}
	if (rules->mode == PROXY_HOLD)
		return true;
	for (int i = 0; i < 2; i++) {
		enum proxy_way way = (enum proxy_way)i;

		if (fds[1 - i].revents != 0 && !l->way[i].ended &&
			(!take_in(l, way, false) || !sort_out(l, rules, way)))
			return false;
		if (rules->mode == PROXY_HOLD) /* a fault has just set it */
			return true;
		if (!give_out(l, way))
			return false;
	}
	return !(l->way[0].end_sent && l->way[1].end_sent);
}
