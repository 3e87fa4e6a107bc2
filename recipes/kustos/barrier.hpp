/*
 * kustos/barrier.hpp - the barrier and the double barrier, in C++.
 * Link with -lkustos-barrier (pkg-config kustos-barrier).
 * <kustos/barrier.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_BARRIER_HPP
#define KUSTOS_BARRIER_HPP

#include <kustos/barrier.h>
#include <kustos/core.hpp>

namespace kustos
{

/* Callers wait while it is set.  The node stays as it is when this ends. */
class barrier
{
      public:
	using options = kustos_barrier_options;

	barrier(const client &c, const std::string &path,
		const options *o = nullptr)
	{
		kustos_barrier *made = nullptr;

		detail::check(kustos_barrier_create(c.get(), detail::text(path),
			o, &made));
		barrier_.reset(made);
	}

	void set(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_barrier_set(get(), until.get(), c));
	}

	/* No matter who set it. */
	void remove(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_barrier_remove(get(), until.get(), c));
	}

	/* Wait until it is not set. */
	void wait(kustos_cancel *c = nullptr)
	{
		detail::check(kustos_barrier_wait(get(), KUSTOS_FOREVER, c));
	}

	/* False if it was still set at "until", or the wait was canceled. */
	bool try_wait(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		return detail::granted(
			kustos_barrier_wait(get(), until.get(), c));
	}

	kustos_barrier *get() const noexcept
	{
		return barrier_.get();
	}

      private:
	std::unique_ptr<kustos_barrier, detail::with<kustos_barrier_destroy>>
		barrier_;
};

/* A member of a double barrier.  Its node is deleted when this ends, so nobody
   waits for it. */
class double_barrier
{
      public:
	using options = kustos_barrier_options;

	double_barrier(const client &c, const std::string &path, int count,
		const options *o = nullptr)
	{
		kustos_double_barrier *made = nullptr;

		detail::check(kustos_double_barrier_create(c.get(),
			detail::text(path), count, o, &made));
		member_.reset(made);
	}

	/* Wait until "count" members are in. */
	void enter(kustos_cancel *c = nullptr)
	{
		detail::check(
			kustos_double_barrier_enter(get(), KUSTOS_FOREVER, c));
	}

	/* False, and the member is out, if they were not all there by "until",
	   or the wait was canceled. */
	bool try_enter(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		return detail::granted(
			kustos_double_barrier_enter(get(), until.get(), c));
	}

	/* Wait until all have left.  Throws KUSTOS_ELOST if they have not
	   waited for this one, as its session had ended. */
	void leave(kustos_cancel *c = nullptr)
	{
		detail::check(
			kustos_double_barrier_leave(get(), KUSTOS_FOREVER, c));
	}

	/* False if this one has left, but not all others by "until". */
	bool try_leave(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		return detail::granted(
			kustos_double_barrier_leave(get(), until.get(), c));
	}

	bool inside() const noexcept
	{
		return kustos_double_barrier_inside(get()) != 0;
	}

	kustos_double_barrier *get() const noexcept
	{
		return member_.get();
	}

      private:
	std::unique_ptr<kustos_double_barrier,
		detail::with<kustos_double_barrier_destroy>>
		member_;
};

} // namespace kustos
#endif
