/*
 * kustos/countdown.hpp - wait until a given number are done, in C++.
 * Link with -lkustos-barrier (pkg-config kustos-barrier).
 * <kustos/countdown.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_COUNTDOWN_HPP
#define KUSTOS_COUNTDOWN_HPP

#include <kustos/core.hpp>
#include <kustos/countdown.h>

namespace kustos
{

/* A count-down latch.  When this object ends, a participant that joined with it
   and is not done counts as dead. */
class countdown
{
      public:
	using options = kustos_countdown_options;

	struct participant {
		std::string id;
		bool done, must, alive;
	};

	struct status {
		int count; /* as stored in the latch; 0: none yet, or two */
		std::size_t done, broken;
		bool disagree;
		std::vector<participant> participants;
	};

	/* "count" 0: the count that is stored in the latch. */
	countdown(const client &c, const std::string &path, int count = 0,
		const options *o = nullptr)
	{
		kustos_countdown *made = nullptr;

		detail::check(kustos_countdown_create(c.get(),
			detail::text(path), count, o, &made));
		countdown_.reset(made);
	}

	void set(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_countdown_set(get(), until.get(), c));
	}

	/* The participant must count from now on. */
	void join(const std::string &id, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_countdown_join(get(), detail::text(id),
			until.get(), c));
	}

	void done(const std::string &id, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_countdown_done(get(), detail::text(id),
			until.get(), c));
	}

	/* Throws KUSTOS_EBROKEN if one that joined has died and is not done. */
	void wait(kustos_cancel *c = nullptr)
	{
		detail::check(kustos_countdown_wait(get(), KUSTOS_FOREVER, c));
	}

	/* False if it was not zero by "until", or the wait was canceled. */
	bool try_wait(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		return detail::granted(
			kustos_countdown_wait(get(), until.get(), c));
	}

	status look(deadline until = {}, kustos_cancel *c = nullptr)
	{
		kustos_countdown_status *raw = nullptr;

		detail::check(
			kustos_countdown_look(get(), until.get(), c, &raw));
		const std::unique_ptr<kustos_countdown_status,
			detail::with<kustos_countdown_status_free>>
			owner(raw);
		status seen{ raw->count, raw->done, raw->broken,
			raw->disagree != 0, {} };
		for (std::size_t i = 0; i < raw->participant_count; i++) {
			const kustos_countdown_participant
				&p = *raw->participants[i];

			seen.participants.push_back({ p.id, p.done != 0,
				p.must != 0, p.alive != 0 });
		}
		return seen;
	}

	/* Call this once nobody waits any more. */
	void remove(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_countdown_remove(get(), until.get(), c));
	}

	kustos_countdown *get() const noexcept
	{
		return countdown_.get();
	}

      private:
	std::unique_ptr<kustos_countdown, detail::with<kustos_countdown_destroy>>
		countdown_;
};

} // namespace kustos
#endif
