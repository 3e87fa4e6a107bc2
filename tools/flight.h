/*
 * flight.h - many requests at once, but no more than a server and the memory
 * can bear.
 *
 * Threads: one makes requests and waits; answers may come on any thread.
 */
#ifndef KU_TOOL_FLIGHT_H
#define KU_TOOL_FLIGHT_H

#include <kustos/node.h>

#include <pthread.h>

#define FLIGHT_MAX 200 /* requests under way */
#define FLIGHT_CREW 32 /* threads that ask */

struct flight {
	pthread_mutex_t mutex;
	pthread_cond_t less;
	int pending;
};

/* One of the core's calls with a callback, such as kustos_exists_async(). */
typedef enum kustos_err flight_fn(struct kustos_client *client,
	const char *path, kustos_deadline deadline,
	struct kustos_cancel *cancel, kustos_done_fn *done, void *arg);

void flight_init(struct flight *flight);
void flight_free(struct flight *flight);

/* Wait until there is room, and make the request.  Unless that fails, "done"
   has to call flight_answered(), as the last thing that it does. */
enum kustos_err flight_ask(struct flight *flight, flight_fn *how,
	struct kustos_client *client, const char *path,
	kustos_deadline deadline, kustos_done_fn *done, void *arg);
void flight_answered(struct flight *flight);

/* Wait until all are answered. */
void flight_wait(struct flight *flight);

/* Call "work" for each number from 0 to "count" - 1, for many of them at once
   on threads of their own: for work that makes several requests, one after the
   other. */
void flight_each(size_t count, void (*work)(void *arg, size_t at), void *arg);

#endif
