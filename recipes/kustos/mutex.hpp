/*
 * kustos/mutex.hpp - one holder at a time, in C++.
 * Link with -lkustos-mutex (pkg-config kustos-mutex).
 * <kustos/mutex.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_MUTEX_HPP
#define KUSTOS_MUTEX_HPP

#include <kustos/core.hpp>
#include <kustos/mutex.h>

namespace kustos
{

/* One holder at a time. */
using mutex = detail::exclusive<kustos_mutex, kustos_mutex_options,
	kustos_mutex_create, kustos_mutex_destroy, kustos_mutex_lock,
	kustos_mutex_unlock, kustos_mutex_acquire, kustos_mutex_hold,
	kustos_mutex_token, kustos_mutex_lockable>;

} // namespace kustos
#endif
