/*
 * kustos/base.h - what every Kustos header shares: errors, deadlines, stats,
 * the version.  Link with -lkustos (pkg-config kustos).
 *
 * Threads: everything here is safe from any thread.
 *
 * If the object that a call of any header works on is NULL: a call that returns
 * an error returns KUSTOS_EINVAL, or KUSTOS_OK if there is nothing to close or
 * release; a call that returns a value returns 0, NULL, -1, or the state CLOSED
 * or LOST; and a call that frees, ends or fires something does nothing.
 *
 * Unless the description of a call says otherwise, it writes to where its
 * arguments point only if it returns KUSTOS_OK, and a callback must not be NULL
 * (KUSTOS_EINVAL).
 *
 * Later versions may add values to every enum: have a default case.  They may
 * add options, too: a library that does not know an option which the program
 * has set refuses it (KUSTOS_EINVAL), rather than ignore it.
 */
#ifndef KUSTOS_BASE_H
#define KUSTOS_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus) && defined(__GNUC__) && !defined(__clang__)
/* A function may have the name of the struct that it fills in: the constructor
   that it hides is never called. */
#define KUSTOS_BEGIN                                                      \
	_Pragma("GCC diagnostic push")                                    \
		_Pragma("GCC diagnostic ignored \"-Wshadow\"") extern "C" \
	{
#define KUSTOS_END \
	}          \
	_Pragma("GCC diagnostic pop")
#elif defined(__cplusplus)
#define KUSTOS_BEGIN extern "C" {
#define KUSTOS_END }
#else
#define KUSTOS_BEGIN
#define KUSTOS_END
#endif

#if defined(__GNUC__) || defined(__clang__)
#define KUSTOS_API __attribute__((visibility("default")))
#define KUSTOS_CHECK __attribute__((warn_unused_result))
#else
#define KUSTOS_API
#define KUSTOS_CHECK
#endif

KUSTOS_BEGIN

/* The version of these headers, for #if; and that of the library, as
   "0.1.0". */
#define KUSTOS_VERSION_MAJOR 0
#define KUSTOS_VERSION_MINOR 1
#define KUSTOS_VERSION_PATCH 0
#define KUSTOS_VERSION                                                  \
	(KUSTOS_VERSION_MAJOR * 1000000 + KUSTOS_VERSION_MINOR * 1000 + \
		KUSTOS_VERSION_PATCH)
KUSTOS_API const char *kustos_version(void);

/* Every error that a Kustos function can return.  Numbers are never reused:
   programs may store and compare them across versions. */
enum kustos_err {
	/* The call did what its description says. */
	KUSTOS_OK = 0,

	/* About the call itself; what was asked for was not done, unless the
	   call says more.  After KUSTOS_ECLOSED what was sent may still take
	   effect. */
	KUSTOS_EINVAL = 1,  /* an argument is malformed: a path, an option */
	KUSTOS_ENOMEM = 2,  /* memory, a thread or a descriptor is short */
	KUSTOS_ETOOBIG = 3, /* a node would exceed the server's frame limit */
	KUSTOS_ELIMIT = 4,  /* one session would hold too much */
	KUSTOS_EFORKED = 5, /* this process is a fork of the client's owner,
			       or of the cancel object's */
	KUSTOS_ECLOSED = 6, /* the client was closed, or the object
			       destroyed, first */
	KUSTOS_EUNSUPPORTED = 7, /* the server, the ZooKeeper library, or the
				    object as it was made cannot do this */

	/* The wait ended.  What was sent may still take effect. */
	KUSTOS_ETIMEDOUT = 20, /* the deadline passed first */
	KUSTOS_ECANCELED = 21, /* the cancel object fired first */
	KUSTOS_EBUSY = 22,     /* another has it, and no wait was allowed */
	KUSTOS_EDEADLK = 23,   /* the call would wait for itself */

	/* About the connection and the session.  After KUSTOS_EDISCONNECTED and
	   KUSTOS_EAUTH what was sent may still take effect. */
	KUSTOS_EDISCONNECTED = 40, /* no connection, and the policy gave up, or
				      no wait was allowed */
	KUSTOS_ELOST = 41, /* what was held is lost: the session is over, or not
			      certain any more, or the node was deleted */
	KUSTOS_EAUTH = 42, /* the server refused our credentials: final */
	KUSTOS_ELINGERING = 43, /* closed, but the server could not be told */

	/* The request may or may not have been applied, and nothing on the
	   server can tell which.  Look before doing it again. */
	KUSTOS_EUNKNOWN = 60,

	/* The server's answers. */
	KUSTOS_ENONODE = 80,	 /* no such node, or no such parent */
	KUSTOS_EEXISTS = 81,	 /* the node exists already */
	KUSTOS_EBADVERSION = 82, /* the node has another version */
	KUSTOS_ENOTEMPTY = 83,	 /* the node has children */
	KUSTOS_ENOCHILDREN = 84, /* an ephemeral node cannot have children */
	KUSTOS_ENOAUTH = 85,	 /* the node's ACL forbids this */
	KUSTOS_EBADACL = 86,	 /* the ACL of a new node is not valid */
	KUSTOS_EQUOTA = 87,	 /* a quota of the server is used up */
	KUSTOS_EROLLEDBACK = 88, /* another operation of the same multi failed */
	KUSTOS_ESERVER = 89,	 /* the server reported another error */

	/* About what a recipe grants. */
	KUSTOS_ENOTHELD = 100,	 /* the caller does not hold it */
	KUSTOS_ESATURATED = 101, /* the line has used up its numbers */
	KUSTOS_ECHANGED = 102,	 /* what was shown or named has changed */
	KUSTOS_EABSENT = 103,	 /* no such candidate waits */
	KUSTOS_EBROKEN = 104,	 /* a participant has died */
	KUSTOS_EDISAGREE = 105,	 /* others use a different number */
	KUSTOS_EEMPTY = 106,	 /* there is nothing to take */
	KUSTOS_EFULL = 107,	 /* there is no room for more */
	KUSTOS_ECORRUPT = 108	 /* the data or the name is malformed */
};

/* Return a sentence about "err" in English, without a full stop.  Never NULL,
   never freed; an unknown number gives "unknown error". */
KUSTOS_API const char *kustos_strerror(enum kustos_err err);

/* Return the name of "err", such as "KUSTOS_ENONODE", for logs and scripts. */
KUSTOS_API const char *kustos_err_name(enum kustos_err err);

/* Receives the outcome of an asynchronous call.  Called once, on the threads
   that run callbacks, also if the object of the call was destroyed
   meanwhile. */
typedef void kustos_end_fn(void *arg, enum kustos_err err);

/* A point in time: nanoseconds of CLOCK_MONOTONIC.  It is absolute, so that a
   call that waits several times inside still ends when its caller said. */
typedef int64_t kustos_deadline;

/* Try once, do not wait; or wait as long as it takes. */
#define KUSTOS_NOW INT64_C(0)
#define KUSTOS_FOREVER INT64_MAX

/* Return the deadline "ms" milliseconds from now.  A negative "ms" is now; a
   sum past the end of time is KUSTOS_FOREVER. */
KUSTOS_API kustos_deadline kustos_after_ms(int64_t ms);

/* What the server knows of a node beside its data. */
struct kustos_stat {
	int64_t czxid;	  /* transaction that created it: its token */
	int64_t mzxid;	  /* transaction of the last change of data */
	int64_t pzxid;	  /* transaction of the last change of children */
	int64_t ctime_ms; /* when created, by the server's wall clock */
	int64_t mtime_ms; /* when changed, by the server's wall clock */
	int64_t ephemeral_owner; /* session id, or 0 if not ephemeral */
	int32_t version;	 /* changes of the data */
	int32_t cversion;	 /* changes of the children */
	int32_t aversion;	 /* changes of the ACL */
	int32_t data_length;
	int32_t num_children;
};

/* One line of an access control list. */
struct kustos_acl {
	int perms;	    /* KUSTOS_PERM_* or-ed together */
	const char *scheme; /* "world", "auth", "digest", "ip" */
	const char *id;	    /* "anyone", "", "user:hash", "10.0.0.0/8" */
};

#define KUSTOS_PERM_READ 1
#define KUSTOS_PERM_WRITE 2
#define KUSTOS_PERM_CREATE 4
#define KUSTOS_PERM_DELETE 8
#define KUSTOS_PERM_ADMIN 16
#define KUSTOS_PERM_ALL 31

KUSTOS_END
#endif
