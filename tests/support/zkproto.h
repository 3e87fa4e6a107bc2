/*
 * zkproto.h - the little of ZooKeeper's wire format that the test bed needs.
 *
 * A frame is a length of 4 bytes and as many bytes.  A request begins with its
 * xid and its op code.  A reply begins with the xid of its request, a zxid and
 * an error code.  The first frame each way is the handshake, which has none of
 * these.
 */
#ifndef TEST_ZKPROTO_H
#define TEST_ZKPROTO_H

#include <stdint.h>
#include <string.h>

enum zk_op {
	ZK_OP_CLOSE = -11,
	ZK_OP_CONNECT = -10, /* the handshake; the number is the server's */
	ZK_OP_CREATE = 1,
	ZK_OP_DELETE = 2,
	ZK_OP_EXISTS = 3,
	ZK_OP_GET = 4,
	ZK_OP_SET = 5,
	ZK_OP_SYNC = 9,
	ZK_OP_PING = 11,
	ZK_OP_CHILDREN = 8,
	ZK_OP_CHILDREN2 = 12,
	ZK_OP_CHECK = 13,
	ZK_OP_MULTI = 14,
	ZK_OP_CREATE2 = 15,
	ZK_OP_REMOVE_WATCHES = 18,
	ZK_OP_CREATE_CONTAINER = 19,
	ZK_OP_AUTH = 100,
	ZK_OP_SET_WATCHES = 101
};

#define ZK_OP_MIN (-11)
#define ZK_OP_MAX 110

#define ZK_XID_EVENT (-1) /* of the frame that carries a watch event */
#define ZK_XID_PING (-2)

static inline int32_t zk_get32(const void *p)
{
	const unsigned char *b = p;

	return (int32_t)((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		(uint32_t)b[2] << 8 | b[3]);
}

static inline int64_t zk_get64(const void *p)
{
	const unsigned char *b = p;

	return (int64_t)((uint64_t)(uint32_t)zk_get32(b) << 32 |
		(uint32_t)zk_get32(b + 4));
}

static inline void zk_put32(void *p, int32_t v)
{
	unsigned char *b = p;

	for (int i = 0; i < 4; i++)
		b[i] = (unsigned char)((uint32_t)v >> (24 - 8 * i));
}

static inline void zk_put64(void *p, int64_t v)
{
	unsigned char *b = p;

	zk_put32(b, (int32_t)(v >> 32));
	zk_put32(b + 4, (int32_t)v);
}

#endif
