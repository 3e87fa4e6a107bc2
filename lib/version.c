/* version.c - the version of the library. */

#include <kustos/base.h>

#define TEXT(number) #number
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *kustos_version(void)
{
	return DOTTED(KUSTOS_VERSION_MAJOR, KUSTOS_VERSION_MINOR,
		KUSTOS_VERSION_PATCH);
}
