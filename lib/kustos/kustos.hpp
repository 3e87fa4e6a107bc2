/*
 * kustos/kustos.hpp - the client and every recipe for C++17.
 * Link with the library that each class names, by pkg-config; there is none for
 * C++.
 *
 *	kustos::client client("zk1:2181,zk2:2181");
 *	kustos::mutex mutex(client, "/locks/report");
 *	if (kustos::hold held = mutex.try_acquire(2s))
 *		write_report(held.token());
 *
 * An object owns what it stands for, and gives it up when it ends.  It can be
 * moved but not copied.  A client must outlive what was made with it.  An error
 * is thrown as a kustos::error, which has the number.  There is one exception:
 * not getting in time what was asked for is no error; try_...() then returns
 * false, or a hold (an item, a claim) of nothing.  But without a connection a
 * try whose deadline is now throws KUSTOS_EDISCONNECTED (but that of a latch
 * returns false).  A path, an id or hosts with a zero byte is KUSTOS_EINVAL.
 * Each class has get(), for the calls of C that have no counterpart here.  The
 * headers <kustos/...h> document those, and what each class promises.
 *
 * Times are those of std::chrono: a duration from now, or a time_point of
 * steady_clock.
 *
 * A program is linked with the recipes that it uses.  Each has a header of its
 * own, such as <kustos/mutex.hpp>; this one includes those that are installed.
 *
 * Threads: as with the objects of C.  The program must not move, assign to or
 * end an object while others use it.
 */
#ifndef KUSTOS_KUSTOS_HPP
#define KUSTOS_KUSTOS_HPP

#include <kustos/core.hpp>

#if __has_include(<kustos/mutex.hpp>)
#include <kustos/mutex.hpp>
#endif
#if __has_include(<kustos/simple.hpp>)
#include <kustos/simple.hpp>
#endif
#if __has_include(<kustos/rwlock.hpp>)
#include <kustos/rwlock.hpp>
#endif
#if __has_include(<kustos/semaphore.hpp>)
#include <kustos/semaphore.hpp>
#endif
#if __has_include(<kustos/election.hpp>)
#include <kustos/election.hpp>
#endif
#if __has_include(<kustos/barrier.hpp>)
#include <kustos/barrier.hpp>
#endif
#if __has_include(<kustos/countdown.hpp>)
#include <kustos/countdown.hpp>
#endif
#if __has_include(<kustos/queue.hpp>)
#include <kustos/queue.hpp>
#endif
#if __has_include(<kustos/claim.hpp>)
#include <kustos/claim.hpp>
#endif

#endif
