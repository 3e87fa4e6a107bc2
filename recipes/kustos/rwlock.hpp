/*
 * kustos/rwlock.hpp - many readers or one writer, in C++.
 * Link with -lkustos-rwlock (pkg-config kustos-rwlock).
 * <kustos/rwlock.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_RWLOCK_HPP
#define KUSTOS_RWLOCK_HPP

#include <kustos/core.hpp>
#include <kustos/rwlock.h>

namespace kustos
{

/* Many readers or one writer. */
class rwlock
{
      public:
	using options = kustos_rwlock_options;

	rwlock(const client &c, const std::string &path,
		const options *o = nullptr)
	{
		kustos_rwlock *made = nullptr;

		detail::check(kustos_rwlock_create(c.get(), detail::text(path),
			o, &made));
		lock_.reset(made);
	}

	hold acquire(kustos_side side, kustos_cancel *c = nullptr)
	{
		kustos_hold *h = nullptr;

		detail::check(kustos_rwlock_acquire(get(), side, KUSTOS_FOREVER,
			c, &h));
		return hold(h);
	}

	hold try_acquire(kustos_side side, deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		kustos_hold *h = nullptr;

		detail::granted(
			kustos_rwlock_acquire(get(), side, until.get(), c, &h));
		return hold(h);
	}

	/* For acquire_all(). */
	kustos_lockable lockable(kustos_side side) const noexcept
	{
		return kustos_rwlock_lockable(get(), side);
	}

	/* Make a reader's hold, and release the writer's. */
	hold downgrade(hold &&writer, deadline until = {})
	{
		kustos_hold *h = nullptr;

		detail::check(kustos_rwlock_downgrade(get(), writer.get(),
			until.get(), nullptr, &h));
		writer = hold();
		return hold(h);
	}

	/* For this thread, and for std::unique_lock and std::shared_lock. */
	void lock()
	{
		detail::check(wait(KUSTOS_WRITE, KUSTOS_FOREVER));
	}

	bool try_lock()
	{
		return detail::granted(wait(KUSTOS_WRITE, KUSTOS_NOW));
	}

	bool try_lock_until(deadline until)
	{
		return detail::granted(wait(KUSTOS_WRITE, until.get()));
	}

	bool try_lock_for(deadline until)
	{
		return try_lock_until(until);
	}

	kustos_err unlock() noexcept
	{
		return kustos_rwlock_unlock(get(), KUSTOS_WRITE);
	}

	void lock_shared()
	{
		detail::check(wait(KUSTOS_READ, KUSTOS_FOREVER));
	}

	bool try_lock_shared()
	{
		return detail::granted(wait(KUSTOS_READ, KUSTOS_NOW));
	}

	bool try_lock_shared_until(deadline until)
	{
		return detail::granted(wait(KUSTOS_READ, until.get()));
	}

	bool try_lock_shared_for(deadline until)
	{
		return try_lock_shared_until(until);
	}

	kustos_err unlock_shared() noexcept
	{
		return kustos_rwlock_unlock(get(), KUSTOS_READ);
	}

	/* The token of this thread's lock, or 0 if there is none. */
	int64_t token(kustos_side side) const noexcept
	{
		return kustos_rwlock_token(get(), side);
	}

	kustos_rwlock *get() const noexcept
	{
		return lock_.get();
	}

      private:
	kustos_err wait(kustos_side side, kustos_deadline until)
	{
		return kustos_rwlock_lock(get(), side, until, nullptr);
	}

	std::unique_ptr<kustos_rwlock, detail::with<kustos_rwlock_destroy>>
		lock_;
};

} // namespace kustos
#endif
