/*
 * net.h - plain sockets to a server on this machine, without libzookeeper.
 *
 * An address is text: "127.0.0.1:2181".
 */
#ifndef TEST_NET_H
#define TEST_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Return milliseconds of CLOCK_MONOTONIC. */
int64_t test_now_ms(void);

/* Return microseconds of CLOCK_MONOTONIC. */
int64_t test_now_us(void);

/* Sleep for about a millisecond: the step of every loop that polls. */
void test_pause_1ms(void);

/* Parse an address.  Returns 0 or -1. */
int net_parse(const char *address, struct sockaddr_in *out);

/* Reserve a port: bind a socket that never listens to "a", and store its port
   there.  Nobody else gets that port by chance.  But net_listen() and the
   server, which use SO_REUSEADDR, can listen on it.  Returns a descriptor, or
   -1. */
int net_reserve(struct sockaddr_in *a);

/* Listen, without blocking, on an address that may be a reserved one.
   Returns a descriptor, or -1. */
int net_listen(const struct sockaddr_in *a);

/* Connect.  Reads and writes on the result fail after "timeout_ms".  Returns
   a descriptor, or -1. */
int net_connect(const char *address, int timeout_ms);

/* Read or write all of it.  Returns 0, or -1 at an error or an early end. */
int net_read(int fd, void *buf, size_t len);
int net_write(int fd, const void *buf, size_t len);

/* Write what fits, without SIGPIPE; otherwise as write(2). */
ssize_t net_send(int fd, const void *buf, size_t len);

/* Send a four letter word, such as "srvr", "wchp", "cons" or "dump", and put as
   much of the answer as fits into "buf", as text.  Returns its length, 0 if the
   server did not answer within five seconds. */
size_t fourletter(const char *address, const char *word, char *buf,
	size_t size);

/* Return whether a server that was started at "begun_ms" serves; if not, ask
   again.  While it comes up it may accept a connection that it never answers.
   So wait for the answer as long as the start has taken so far, and a
   moment. */
bool fourletter_serves(const char *address, int64_t begun_ms);

/* Return whether the answer to the word contains "text", or lacks it.  Both
   return false if there is no answer. */
bool fourletter_has(const char *address, const char *word, const char *text);
bool fourletter_lacks(const char *address, const char *word, const char *text);

#endif
