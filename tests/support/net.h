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

/* Give the processor away for about a millisecond: the step of every poll. */
void test_pause_1ms(void);

/* Parse an address.  Returns 0 or -1. */
int net_parse(const char *address, struct sockaddr_in *out);

/* Keep a port: bind a socket that never listens to "a", and put the port that
   it has there.  Nobody is given that port by chance, but whoever asks for it
   with SO_REUSEADDR, as net_listen() and the server do, may listen on it.
   Returns a descriptor, or -1. */
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

/* Ask a four letter word, such as "srvr", "wchp", "cons" or "dump", and put
   the answer, as much as fits, as text into "buf".  Returns its length, 0 if
   the server did not answer within five seconds. */
size_t fourletter(const char *address, const char *word, char *buf,
	size_t size);

/* Return whether a server that was started at "begun_ms" serves: to be asked again if
   not.  As it comes up it may take a connection that it never answers; so it is given
   as long as it has taken already, and a moment. */
bool fourletter_serves(const char *address, int64_t begun_ms);

/* Return whether the answer to the word contains "text", or does not contain it;
   neither, if there is no answer. */
bool fourletter_has(const char *address, const char *word, const char *text);
bool fourletter_lacks(const char *address, const char *word, const char *text);

#endif
