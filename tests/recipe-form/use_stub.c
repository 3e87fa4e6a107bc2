/*
 * use_stub.c - a user of a recipe library: what the map names is there, in its
 * version, and what it does not name is not.
 */
#define _GNU_SOURCE
#include "kustos/stub.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define SKIPPED 77

static int failures;

static void expect(int ok, const char *what)
{
	printf("%s: %s\n", ok ? "ok" : "FAILED", what);
	failures += !ok;
}

/* Return the library that "kustos_stub_tell" comes from, or NULL if it is a
   part of this program, as it is in a build without shared libraries. */
static void *open_library(void)
{
	Dl_info self, library;

	if (!dladdr((void *)&failures, &self) ||
		!dladdr(dlsym(RTLD_DEFAULT, "kustos_stub_tell"), &library) ||
		library.dli_fbase == self.dli_fbase)
		return NULL;
	return dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
}

int main(void)
{
	void *library;

	expect(strcmp(kustos_stub_tell(KUSTOS_ENONODE),
		       kustos_strerror(KUSTOS_ENONODE)) == 0,
		"the recipe reaches the core");
	library = open_library();
	if (library == NULL)
		return failures ? 1 : SKIPPED;
	expect(dlvsym(library, "kustos_stub_tell", "KUSTOS_0") != NULL,
		"a mapped name is exported under its version");
	expect(dlsym(library, "kustos_stub_unmapped") == NULL,
		"a name that is not in the map is not exported");
	dlclose(library);
	return failures ? 1 : 0;
}
