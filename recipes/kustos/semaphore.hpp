/*
 * kustos/semaphore.hpp - at most a given number of holders at a time, in C++.
 * Link with -lkustos-semaphore (pkg-config kustos-semaphore).
 * <kustos/semaphore.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_SEMAPHORE_HPP
#define KUSTOS_SEMAPHORE_HPP

#include <kustos/core.hpp>
#include <kustos/semaphore.h>

namespace kustos
{

/* At most a given number of holders at a time. */
class semaphore
{
      public:
	semaphore(const client &c, const std::string &path,
		const kustos_semaphore_options &o)
	{
		kustos_semaphore *made = nullptr;

		detail::check(kustos_semaphore_create(c.get(),
			detail::text(path), &o, &made));
		semaphore_.reset(made);
	}

	semaphore(const client &c, const std::string &path, int max)
		: semaphore(c, path, of(max))
	{
	}

	hold acquire(kustos_cancel *c = nullptr)
	{
		kustos_hold *h = nullptr;

		detail::check(
			kustos_semaphore_acquire(get(), KUSTOS_FOREVER, c, &h));
		return hold(h);
	}

	hold try_acquire(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		kustos_hold *h = nullptr;

		detail::granted(
			kustos_semaphore_acquire(get(), until.get(), c, &h));
		return hold(h);
	}

	/* All of them; none if they could not be had before "until". */
	std::vector<hold> try_acquire_many(int count,
		deadline until = deadline::now(), kustos_cancel *c = nullptr)
	{
		const std::size_t size = count > 0 ? std::size_t(count) : 1;
		std::vector<kustos_hold *> raw(size);
		std::vector<hold> held;

		held.reserve(size);
		if (detail::granted(kustos_semaphore_acquire_many(get(), count,
			    until.get(), c, raw.data())))
			for (kustos_hold *h : raw)
				held.emplace_back(h);
		return held;
	}

	/* One lease, for acquire_all(). */
	kustos_lockable lockable() const noexcept
	{
		return kustos_semaphore_lockable(get());
	}

	/* -1 if the number is in a node, and is not known. */
	int max() const noexcept
	{
		return kustos_semaphore_max(get());
	}

	kustos_semaphore *get() const noexcept
	{
		return semaphore_.get();
	}

      private:
	static kustos_semaphore_options of(int max)
	{
		kustos_semaphore_options o = KUSTOS_SEMAPHORE_OPTIONS_INIT;

		o.max = max;
		return o;
	}

	std::unique_ptr<kustos_semaphore, detail::with<kustos_semaphore_destroy>>
		semaphore_;
};

} // namespace kustos
#endif
