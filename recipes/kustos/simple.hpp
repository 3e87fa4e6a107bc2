/*
 * kustos/simple.hpp - one holder at a time, of one node, in C++.
 * Link with -lkustos-simple (pkg-config kustos-simple).
 * <kustos/simple.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_SIMPLE_HPP
#define KUSTOS_SIMPLE_HPP

#include <kustos/core.hpp>
#include <kustos/simple.h>

namespace kustos
{

/* One holder at a time, of one node. */
using simple = detail::exclusive<kustos_simple, kustos_simple_options,
	kustos_simple_create, kustos_simple_destroy, kustos_simple_lock,
	kustos_simple_unlock, kustos_simple_acquire, kustos_simple_hold,
	kustos_simple_token, kustos_simple_lockable>;

} // namespace kustos
#endif
