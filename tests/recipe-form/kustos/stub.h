/*
 * kustos/stub.h - the smallest recipe there can be; never installed.
 *
 * Threads: every call is safe from any thread.
 */
#ifndef KUSTOS_STUB_H
#define KUSTOS_STUB_H

#include <kustos/base.h>

KUSTOS_BEGIN

/* Return what the core says of "err". */
KUSTOS_API const char *kustos_stub_tell(enum kustos_err err);

/* Marked as public, but not in the map: it must not be exported. */
KUSTOS_API int kustos_stub_unmapped(void);

KUSTOS_END
#endif
