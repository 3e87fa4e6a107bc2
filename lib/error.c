/*
 * error.c - what each error is called.
 */
#include <kustos/base.h>

struct entry {
	enum kustos_err err;
	const char *name;
	const char *text;
};

#define ENTRY(err, text)        \
	{                       \
		err, #err, text \
	}

static const struct entry entries[] = {
	ENTRY(KUSTOS_OK, "success"),

	ENTRY(KUSTOS_EINVAL, "an argument is not valid"),
	ENTRY(KUSTOS_ENOMEM, "out of memory, threads or descriptors"),
	ENTRY(KUSTOS_ETOOBIG, "the node would exceed the server's frame limit"),
	ENTRY(KUSTOS_ELIMIT, "one session would hold too much"),
	ENTRY(KUSTOS_EFORKED, "this process is a fork of the client's owner"),
	ENTRY(KUSTOS_ECLOSED, "the client was closed, or the object destroyed"),
	ENTRY(KUSTOS_EUNSUPPORTED, "the server or the object cannot do this"),

	ENTRY(KUSTOS_ETIMEDOUT, "the deadline passed"),
	ENTRY(KUSTOS_ECANCELED, "the call was canceled"),
	ENTRY(KUSTOS_EBUSY, "it is held by another"),
	ENTRY(KUSTOS_EDEADLK, "the caller would wait for itself"),

	ENTRY(KUSTOS_EDISCONNECTED, "there is no connection to a server"),
	ENTRY(KUSTOS_ELOST, "what was held is lost"),
	ENTRY(KUSTOS_EAUTH, "the server refused the credentials"),
	ENTRY(KUSTOS_ELINGERING, "closed, but the server could not be told"),

	ENTRY(KUSTOS_EUNKNOWN, "the request may or may not have been applied"),

	ENTRY(KUSTOS_ENONODE, "no such node"),
	ENTRY(KUSTOS_EEXISTS, "the node exists already"),
	ENTRY(KUSTOS_EBADVERSION, "the node has another version"),
	ENTRY(KUSTOS_ENOTEMPTY, "the node has children"),
	ENTRY(KUSTOS_ENOCHILDREN, "an ephemeral node cannot have children"),
	ENTRY(KUSTOS_ENOAUTH, "the node's ACL forbids this"),
	ENTRY(KUSTOS_EBADACL, "the ACL is not valid"),
	ENTRY(KUSTOS_EQUOTA, "a quota of the server is used up"),
	ENTRY(KUSTOS_EROLLEDBACK, "another operation of the multi failed"),
	ENTRY(KUSTOS_ESERVER, "the server reported another error"),

	ENTRY(KUSTOS_ENOTHELD, "the caller does not hold it"),
	ENTRY(KUSTOS_ESATURATED, "the line's numbers are used up"),
	ENTRY(KUSTOS_ECHANGED, "what was shown or named has changed meanwhile"),
	ENTRY(KUSTOS_EABSENT, "no such candidate waits"),
	ENTRY(KUSTOS_EBROKEN, "a participant that is waited for has died"),
	ENTRY(KUSTOS_EDISAGREE, "others use a different number"),
	ENTRY(KUSTOS_EEMPTY, "there is nothing to take"),
	ENTRY(KUSTOS_EFULL, "there is no room"),
	ENTRY(KUSTOS_ECORRUPT, "the data or the name is malformed"),
};

static const struct entry unknown = { (enum kustos_err) - 1, "unknown",
	"unknown error" };

static const struct entry *find(enum kustos_err err)
{
	size_t i;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (entries[i].err == err)
			return &entries[i];
	return &unknown;
}

const char *kustos_strerror(enum kustos_err err)
{
	return find(err)->text;
}

const char *kustos_err_name(enum kustos_err err)
{
	return find(err)->name;
}
