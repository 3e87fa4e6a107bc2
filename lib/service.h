/*
 * service.h - marks what the core offers to recipe libraries, and to nobody
 * else: recipe.h.
 */
#ifndef KU_SERVICE_H
#define KU_SERVICE_H

#include <kustos/base.h>

#define KU_SERVICE KUSTOS_API

#endif
