/*
 * kustos/kustos.hpp - the client and every recipe for C++17.
 * Link with what each class names in pkg-config; there is no library of its own.
 *
 *	kustos::client client("zk1:2181,zk2:2181");
 *	kustos::mutex mutex(client, "/locks/report");
 *	if (kustos::hold held = mutex.try_acquire(2s))
 *		write_report(held.token());
 *
 * Objects own what they stand for, can be moved and not copied, and give it up
 * when they end.  A client has to outlive what was made with it.  What went
 * wrong is thrown as a kustos::error, which has the number; only not to get in
 * time what was asked for is no error: try_... then says false, or returns a
 * hold (an item, a claim) of nothing.  A path, an id or hosts with a zero byte in it
 * is KUSTOS_EINVAL.  Each class has get(), for the calls of C that have no
 * counterpart here, which are all in <kustos/...h>, as is what each promises.
 *
 * Times are of std::chrono: a duration from now, a time_point of steady_clock.
 *
 * What of it a program uses decides with which recipes it is linked.  Each has a
 * header of its own, such as <kustos/mutex.hpp>; here are those that are
 * installed.
 *
 * Threads: as with the objects of C.  That one is moved, assigned to or ended
 * while others use it is for the program to prevent.
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
