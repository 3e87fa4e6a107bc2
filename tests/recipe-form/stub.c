/* stub.c - a recipe that only calls its core. */
#include "kustos/stub.h"

const char *kustos_stub_tell(enum kustos_err err)
{
	return kustos_strerror(err);
}

int kustos_stub_unmapped(void)
{
	return 1;
}
