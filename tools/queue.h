/*
 * queue.h - kustos queue: its options, and what it does.
 */
#ifndef KU_TOOL_QUEUE_H
#define KU_TOOL_QUEUE_H

#include "job.h"

#include <kustos/item.h>

struct queue_job;

struct queue_verb {
	const char *name;
	int (*run)(struct queue_job *q);
	const char *options; /* letters of those that it takes: QUEUE_... */
	bool command;	     /* runs one; else arguments are items, or wrong */
	bool items;
};

/* Letters for struct queue_verb.  Some stand for long options, which have no
   letter on the command line. */
#define QUEUE_WAIT 'w'
#define QUEUE_COUNT 'c'
#define QUEUE_NULL 'z'
#define QUEUE_WHEN 'p'	  /* --priority, --delay, --id */
#define QUEUE_MAX 'm'	  /* --max-items */
#define QUEUE_CLAIM 'd'	  /* --deliveries, --dead-letters, --lock-path */
#define QUEUE_RECEIPT 's' /* --receipts */
#define QUEUE_REQUEUE 'r' /* --requeue */
#define QUEUE_JSON 'j'

struct queue_job {
	struct tool tool;
	struct job job; /* "path" and "argv" are there without a command, too */
	const struct queue_verb *verb;
	enum kustos_queue_kind kind;
	bool has_kind;	 /* -k was given */
	int64_t wait_ms; /* -1: not said */
	int count;	 /* 0: not said */
	bool null;	 /* items end with a zero byte */
	int priority;
	int64_t delay_ms;
	const char *id;
	int max_items, deliveries;
	const char *dead_letters, *lock_path, *receipts;
	bool requeue;
};

/* Parse the command line; "q" keeps pointers to its strings.  Returns false if
   the program is to end now, with the exit code in "tool". */
bool queue_parse(struct queue_job *q, const struct queue_verb *verbs, int argc,
	char **argv);

/* Read the name of a kind.  Returns false if it is none. */
bool queue_kind_named(const char *name, enum kustos_queue_kind *out);

/* Find out the kind of the queue by the names in it, and use that, unless -k
   was given or items are to be put.  Refuse a kind that does not fit the
   names.  An empty queue may be of any kind.  Returns TOOL_OK, or the exit code
   to end with. */
int queue_recognise(struct queue_job *q, struct kustos_client *client);

/* Return until when to wait for an item. */
kustos_deadline queue_deadline(const struct queue_job *q);

/* Print that there was no item, or what else has happened; return the exit
   code. */
int queue_failed(const struct queue_job *q, struct kustos_client *client,
	const char *what, enum kustos_err err);

/* The verbs with files of their own. */
int queue_ls(struct queue_job *q);
int queue_consume(struct queue_job *q);

#endif
