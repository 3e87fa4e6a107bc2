/*
 * inject_frame.c - faults at one chosen frame of libzookeeper.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#undef _FORTIFY_SOURCE /* its recv() is an inline one */
#include "inject.h"
#include "inject_impl.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define FDS 1024
#define HEAD 12 /* length, xid, op code */

/* The position of the next byte in a stream of frames. */
struct position {
	char head[HEAD];
	int head_len;
	int32_t left; /* bytes of the frame after its head */
	bool greeted;
};

struct conn {
	struct position out;
	int32_t in_left; /* bytes of the frame being read */
	bool in_greeted;
	enum inject_fault victim; /* the fault for the answer to this xid */
	int32_t victim_xid;
	int victim_op;
	bool victim_greets;
};

#define OPS (ZK_OP_MAX - ZK_OP_MIN + 1)

/* Set before main(), and shared with all forked processes. */
static int (*happened)[OPS];

/* Guards everything below; no other lock is taken while it is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct conn conns[FDS];
static enum inject_fault fault;
static int fault_op;
static int fault_left;
static int fired;
static bool holding;
static int sent[OPS];

void inject_frames_share(void)
{
	happened = mmap(NULL, (INJECT_DROP_EVENT + 1) * sizeof(*happened),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (happened == MAP_FAILED)
		abort();
}

static bool has_happened(enum inject_fault f, int op)
{
	return __atomic_load_n(&happened[f][op - ZK_OP_MIN], __ATOMIC_SEQ_CST) >
		0;
}

int inject_untried(const int *codes, int count)
{
	for (int i = 0; i < count; i++)
		if (!has_happened(INJECT_FAIL_SEND, codes[i]) ||
			!has_happened(INJECT_LOSE_REPLY, codes[i]))
			return codes[i];
	return 0;
}

static void note_fired(enum inject_fault f, int op)
{
	fired++;
	__atomic_add_fetch(&happened[f][op - ZK_OP_MIN], 1, __ATOMIC_SEQ_CST);
}

void inject_frames_reset(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < FDS; i++)
		conns[i].victim = INJECT_NOTHING;
	fault = INJECT_NOTHING;
	fired = 0;
	holding = false;
	memset(sent, 0, sizeof(sent));
	pthread_mutex_unlock(&lock);
}

void inject_frame(enum inject_fault f, int op, int n)
{
	pthread_mutex_lock(&lock);
	fault = f;
	fault_op = op;
	fault_left = n;
	pthread_mutex_unlock(&lock);
}

void inject_release(void)
{
	pthread_mutex_lock(&lock);
	holding = false;
	if (fault == INJECT_HOLD_REPLY)
		fault = INJECT_NOTHING;
	for (int i = 0; i < FDS; i++)
		if (conns[i].victim == INJECT_HOLD_REPLY)
			conns[i].victim = INJECT_NOTHING;
	pthread_mutex_unlock(&lock);
}

int inject_fired(void)
{
	int n;

	pthread_mutex_lock(&lock);
	n = fired;
	pthread_mutex_unlock(&lock);
	return n;
}

int inject_sent(int op)
{
	int n;

	pthread_mutex_lock(&lock);
	n = sent[op - ZK_OP_MIN];
	pthread_mutex_unlock(&lock);
	return n;
}

void inject_frames_begin(int fd)
{
	pthread_mutex_lock(&lock);
	if (fd >= 0 && fd < FDS)
		memset(&conns[fd], 0, sizeof(conns[fd]));
	pthread_mutex_unlock(&lock);
}

/* Take bytes up to the end of a frame's head, or of its rest.  Returns how many
   were taken, and whether a head is now complete. */
static size_t advance(struct position *p, const char *data, size_t len,
	bool *whole)
{
	size_t n;

	*whole = false;
	if (p->head_len < HEAD) {
		n = (size_t)(HEAD - p->head_len);
		if (n > len)
			n = len;
		memcpy(p->head + p->head_len, data, n);
		p->head_len += (int)n;
		if (p->head_len == HEAD) {
			*whole = true;
			p->left = zk_get32(p->head) - (HEAD - 4);
		}
	} else {
		n = (size_t)p->left < len ? (size_t)p->left : len;
		p->left -= (int32_t)n;
	}
	if (p->head_len == HEAD && p->left <= 0 && !*whole)
		p->head_len = 0;
	return n;
}

/* The head of the frame in "p" is complete, so the frame is sent or would be.
   Return its op code. */
static int head_op(const struct position *p)
{
	return p->greeted ? zk_get32(p->head + 8) : ZK_OP_CONNECT;
}

static void frame_done(struct position *p)
{
	p->greeted = true;
	if (p->left <= 0)
		p->head_len = 0;
}

/* Return how much of this comes before the frame that must not be sent, or -1 if
   that is not in it. */
static ssize_t before_victim(const struct conn *c, const char *data, size_t len)
{
	struct position p = c->out;
	size_t at = 0, begin = 0;
	int seen = 0;
	bool whole;

	while (fault == INJECT_FAIL_SEND && at < len) {
		if (p.head_len == 0)
			begin = at;
		at += advance(&p, data + at, len - at, &whole);
		if (!whole)
			continue;
		if (head_op(&p) == fault_op && ++seen == fault_left)
			return (ssize_t)begin;
		frame_done(&p);
	}
	return -1;
}

static void note_head(struct conn *c)
{
	int op = head_op(&c->out);

	if (op < ZK_OP_MIN || op > ZK_OP_MAX)
		return;
	sent[op - ZK_OP_MIN]++;
	if (fault == INJECT_NOTHING || fault == INJECT_DROP_EVENT ||
		op != fault_op || --fault_left > 0)
		return;
	c->victim = fault;
	c->victim_xid = zk_get32(c->out.head + 4);
	c->victim_op = op;
	c->victim_greets = !c->out.greeted;
	fault = INJECT_NOTHING;
}

static void note_sent(struct conn *c, const char *data, size_t len)
{
	bool whole;

	while (len > 0) {
		size_t n = advance(&c->out, data, len, &whole);

		data += n;
		len -= n;
		if (whole) {
			note_head(c);
			frame_done(&c->out);
		}
	}
}

static ssize_t break_off(int fd, enum inject_fault f, int op)
{
	note_fired(f, op);
	shutdown(fd, SHUT_RDWR);
	errno = ECONNRESET;
	return -1;
}

INJECTED ssize_t send(int fd, const void *data, size_t len, int flags)
{
	static ssize_t (*real)(int, const void *, size_t, int);
	ssize_t n, before;

	INJECT_REAL(real, "send");
	if (INJECT_CALLER() != INJECT_ZOOKEEPER || fd < 0 || fd >= FDS)
		return real(fd, data, len, flags);
	pthread_mutex_lock(&lock);
	before = before_victim(&conns[fd], data, len);
	if (before >= 0) {
		fault = INJECT_NOTHING;
		if (before > 0 && real(fd, data, (size_t)before, flags) > 0)
			note_sent(&conns[fd], data, (size_t)before);
		n = break_off(fd, INJECT_FAIL_SEND, fault_op);
	} else {
		n = real(fd, data, len, flags);
		if (n > 0)
			note_sent(&conns[fd], data, (size_t)n);
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static ssize_t (*real_recv)(int, void *, size_t, int);

/* Look at the start of the next frame, without taking it. */
static bool peek(int fd, char *head)
{
	return real_recv(fd, head, 8, MSG_PEEK | MSG_DONTWAIT) == 8;
}

static ssize_t try_later(void)
{
	errno = EAGAIN;
	return -1;
}

/* Read one whole frame, waiting until all of it is there, and drop it. */
static void swallow(int fd, int32_t len)
{
	char buf[4096];
	int32_t left = len + 4;

	while (left > 0) {
		size_t want = left < (int32_t)sizeof(buf) ? (size_t)left
							  : sizeof(buf);
		ssize_t n = real_recv(fd, buf, want, 0);

		if (n > 0)
			left -= (int32_t)n;
		else if (n == 0 || errno != EAGAIN)
			return;
	}
}

/* At the start of a frame: returns 0 to go on, -1 with errno to fail. */
static ssize_t meet_frame(struct conn *c, int fd, const char *head)
{
	int32_t xid = zk_get32(head + 4);
	bool hit = c->in_greeted ? !c->victim_greets && c->victim_xid == xid
				 : c->victim_greets;

	if (c->victim == INJECT_HOLD_REPLY && hit) {
		c->victim = INJECT_NOTHING;
		holding = true;
		note_fired(INJECT_HOLD_REPLY, c->victim_op);
	}
	if (holding)
		return try_later();
	if (c->victim == INJECT_LOSE_REPLY && hit) {
		c->victim = INJECT_NOTHING;
		return break_off(fd, INJECT_LOSE_REPLY, c->victim_op);
	}
	if (fault == INJECT_DROP_EVENT && c->in_greeted &&
		xid == ZK_XID_EVENT && --fault_left <= 0) {
		fault = INJECT_NOTHING;
		fired++;
		swallow(fd, zk_get32(head));
		return try_later();
	}
	c->in_left = zk_get32(head) + 4;
	c->in_greeted = true;
	return 0;
}

static ssize_t recv_frames(struct conn *c, int fd, void *data, size_t len,
	int flags)
{
	char head[8];
	ssize_t n;

	if (c->in_left == 0) {
		if (!peek(fd, head)) {
			/* The end or an error is passed on as it is; half a
			   head is left for later. */
			n = real_recv(fd, head, 1, MSG_PEEK | MSG_DONTWAIT);
			return n > 0 ? try_later()
				     : real_recv(fd, data, len, flags);
		}
		if (meet_frame(c, fd, head) < 0)
			return -1;
	}
	if (len > (size_t)c->in_left)
		len = (size_t)c->in_left;
	n = real_recv(fd, data, len, flags);
	if (n > 0)
		c->in_left -= (int32_t)n;
	return n;
}

INJECTED ssize_t recv(int fd, void *data, size_t len, int flags)
{
	struct timespec moment = { 0, 1000000 };
	bool wait;
	ssize_t n;

	INJECT_REAL(real_recv, "recv");
	if (INJECT_CALLER() != INJECT_ZOOKEEPER || fd < 0 || fd >= FDS)
		return real_recv(fd, data, len, flags);
	pthread_mutex_lock(&lock);
	n = recv_frames(&conns[fd], fd, data, len, flags);
	wait = n < 0 && holding;
	pthread_mutex_unlock(&lock);
	if (wait) { /* else libzookeeper would spin */
		nanosleep(&moment, NULL);
		errno = EAGAIN;
	}
	return n;
}
