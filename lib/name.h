/*
 * name.h - paths and node names: check, join, take apart, make unique.
 */
#ifndef KU_NAME_H
#define KU_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kustos_names;
struct ku_random;

/* Length of "_c_" + a UUID + "-", and of that with a closing zero. */
#define KU_PROTECTION_LEN 40
#define KU_PROTECTION_SIZE (KU_PROTECTION_LEN + 1)

/* Return whether "path" is one that a server accepts: absolute, no empty, "."
   or ".." component, no trailing slash except "/" itself, valid UTF-8, none of
   the characters that ZooKeeper forbids (control characters up to U+001F and
   U+007F to U+009F, U+D800 to U+F8FF, U+FFF0 and all above).  With "prefix" it
   may end in a slash or in dots, as the path of a sequential node may.  NULL
   is not valid. */
bool ku_path_valid(const char *path, bool prefix);

/* Return whether "name" can be one component of a path. */
bool ku_name_valid(const char *name);

/* Return the malloc'ed "prefix" + "path", where "prefix" is "" or an absolute
   path without trailing slash, and "path" is absolute ("/" adds nothing unless
   the prefix is empty).  NULL if memory is short. */
char *ku_path_join(const char *prefix, const char *path);

/* Return "path" without the prefix, of "prefix_len" characters, that was joined
   to it: a pointer into "path", or "/" if nothing follows the prefix. */
const char *ku_path_behind(const char *path, size_t prefix_len);

/* Return the path of the child "name" of "parent", malloc'ed; NULL if memory is
   short. */
char *ku_path_child(const char *parent, const char *name);

/* Return the last component, inside "path". */
const char *ku_path_leaf(const char *path);

/* Sort names bytewise, as all libraries do; and search names sorted so. */
void ku_names_sort(struct kustos_names *names);
bool ku_names_have(const struct kustos_names *names, const char *name);

/* Return the length of the parent of "path": of "/a/b" 2, of "/a" 1. */
size_t ku_path_parent_len(const char *path);

/* Write "_c_<uuid>-" with a random version-4 UUID in lower case. */
void ku_protection(struct ku_random *random, char out[KU_PROTECTION_SIZE]);

/* Write such a UUID without its dashes, as kazoo does, and nothing else. */
void ku_protection_bare(struct ku_random *random, char out[KU_PROTECTION_SIZE]);

/* Read the number that the server appended to "name": its last 10 digits, or
   a minus sign and the digits that follow (it is "%010d" of a signed 32-bit
   number, so a sign may take the place of one digit: "-000000005").  A minus
   before ten digits that could be either ("lock-1500000000") belongs to the
   prefix, unless it begins "name" or follows another minus.  Returns false if
   the name does not end in a number. */
bool ku_name_sequence(const char *name, int32_t *out);

/* The same, and store the length of what comes before the number. */
bool ku_name_split(const char *name, size_t *prefix, int32_t *out);

#endif
