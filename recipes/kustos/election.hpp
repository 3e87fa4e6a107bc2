/*
 * kustos/election.hpp - one leader at a time, in C++.
 * Link with -lkustos-election (pkg-config kustos-election).
 * <kustos/election.h> documents the calls, <kustos/kustos.hpp> what all
 * classes have in common.
 */
#ifndef KUSTOS_ELECTION_HPP
#define KUSTOS_ELECTION_HPP

#include <kustos/core.hpp>
#include <kustos/election.h>

namespace kustos
{

/* One leader at a time.  Takes part from start() on. */
class latch
{
      public:
	using options = kustos_latch_options;

	/* Called with the term, on a thread of the client.  Neither may end the
	   latch, and an exception that leaves them ends the program. */
	using callback = std::function<void(int64_t term)>;

	/* The same with the hold of the term, which belongs to the latch; not
	   to be released. */
	using hold_callback = std::function<void(kustos_hold *)>;

	latch(const client &c, const std::string &path, const std::string &id,
		callback gained = {}, callback lost = {})
		: told_(std::make_unique<told>(
			  told{ with_term(std::move(gained)),
				  with_term(std::move(lost)) }))
	{
		options o = KUSTOS_LATCH_OPTIONS_INIT;

		o.id = detail::text(id);
		make(c, path, o);
	}

	/* These functions take the place of those in "o", and of its "arg". */
	latch(const client &c, const std::string &path, const options *o,
		hold_callback gained = {}, hold_callback lost = {})
		: told_(std::make_unique<told>(
			  told{ std::move(gained), std::move(lost) }))
	{
		const options none = KUSTOS_LATCH_OPTIONS_INIT;

		make(c, path, o != nullptr ? *o : none);
	}

	latch(latch &&other) = default;

	/* In this order: the functions go when nothing calls them any more. */
	latch &operator=(latch &&other) noexcept
	{
		latch_ = std::move(other.latch_);
		told_ = std::move(other.told_);
		return *this;
	}

	void start()
	{
		detail::check(kustos_latch_start(get()));
	}

	/* If it leads, the callback for the loss is called. */
	void close() noexcept
	{
		kustos_latch_close(get(), KUSTOS_CLOSE_NOTIFY);
	}

	void wait(kustos_cancel *c = nullptr)
	{
		detail::check(kustos_latch_wait(get(), KUSTOS_FOREVER, c));
	}

	/* False if it did not lead by "until". */
	bool try_wait(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		return detail::granted(
			kustos_latch_wait(get(), until.get(), c));
	}

	bool leads() const noexcept
	{
		return kustos_latch_leads(get()) != 0;
	}

	/* 0 if it does not lead. */
	int64_t term() const noexcept
	{
		return kustos_latch_term(get());
	}

	/* Store something else than its id, while it leads. */
	void set_data(std::string_view data, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_latch_set_data(get(), data.data(),
			data.size(), until.get(), c));
	}

	/* The first waiting candidate with "id" leads; this one stands in line
	   again. */
	void hand_over(const std::string &id, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_latch_hand_over(get(), detail::text(id),
			until.get(), c));
	}

	void hand_over_to_next(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(
			kustos_latch_hand_over(get(), nullptr, until.get(), c));
	}

	kustos_latch *get() const noexcept
	{
		return latch_.get();
	}

      private:
	struct told {
		hold_callback gained, lost;
	};

	void make(const client &c, const std::string &path, options o)
	{
		kustos_latch *made = nullptr;

		o.on_gained = on_gained;
		o.on_lost = on_lost;
		o.arg = told_.get();
		detail::check(kustos_latch_create(c.get(), detail::text(path),
			&o, &made));
		latch_.reset(made);
	}

	static hold_callback with_term(callback fn)
	{
		if (!fn)
			return {};
		return [fn = std::move(fn)](
			       kustos_hold *h) { fn(kustos_hold_token(h)); };
	}

	static void on_gained(void *arg, kustos_latch *,
		kustos_hold *h) noexcept
	{
		const hold_callback &fn = static_cast<told *>(arg)->gained;

		if (fn)
			fn(h);
	}

	static void on_lost(void *arg, kustos_latch *, kustos_hold *h) noexcept
	{
		const hold_callback &fn = static_cast<told *>(arg)->lost;

		if (fn)
			fn(h);
	}

	std::unique_ptr<told> told_; /* outlives the latch */
	std::unique_ptr<kustos_latch, detail::with<kustos_latch_destroy>> latch_;
};

/* A latch whose work is a function: the selector leads while the function runs,
   and gives leadership up when it returns. */
class selector
{
      public:
	using options = kustos_selector_options;

	/* Leadership, for as long as the function runs. */
	class term
	{
	      public:
		/* It is time to return. */
		bool over() const noexcept
		{
			return kustos_cancel_fired(stop_) != 0;
		}

		/* Pass this to every call that waits. */
		kustos_cancel *stop() const noexcept
		{
			return stop_;
		}

		/* Grows from leader to leader. */
		int64_t token() const noexcept
		{
			return kustos_hold_token(hold_);
		}

		enum kustos_hold_state state() const noexcept
		{
			return kustos_hold_state(hold_);
		}

		/* For the calls of C; not to be released. */
		kustos_hold *hold() const noexcept
		{
			return hold_;
		}

	      private:
		friend class selector;

		term(kustos_hold *h, kustos_cancel *stop) noexcept
			: hold_(h), stop_(stop)
		{
		}

		kustos_hold *hold_;
		kustos_cancel *stop_;
	};

	/* Runs on a thread of its own.  It may not end the selector, and an
	   exception that leaves it ends the program. */
	using work = std::function<void(const term &)>;

	selector(const client &c, const std::string &path,
		const std::string &id, work lead, bool requeues = false)
		: lead_(std::make_unique<work>(std::move(lead)))
	{
		options o = KUSTOS_SELECTOR_OPTIONS_INIT;

		o.id = detail::text(id);
		o.requeues = requeues;
		make(c, path, o);
	}

	/* The function takes the place of that in "o", and of its "arg". */
	selector(const client &c, const std::string &path, const options *o,
		work lead)
		: lead_(std::make_unique<work>(std::move(lead)))
	{
		const options none = KUSTOS_SELECTOR_OPTIONS_INIT;

		make(c, path, o != nullptr ? *o : none);
	}

	selector(selector &&other) = default;

	/* In this order: the function goes when it has returned. */
	selector &operator=(selector &&other) noexcept
	{
		selector_ = std::move(other.selector_);
		lead_ = std::move(other.lead_);
		return *this;
	}

	void start()
	{
		detail::check(kustos_selector_start(get()));
	}

	/* Stand in line once more, after it has led. */
	void requeue()
	{
		detail::check(kustos_selector_requeue(get()));
	}

	/* Ask the function to return; false if it does not run. */
	bool interrupt()
	{
		const kustos_err err = kustos_selector_interrupt(get());

		if (err == KUSTOS_ENOTHELD)
			return false;
		detail::check(err);
		return true;
	}

	/* Asks the function to return, and waits for it. */
	void close() noexcept
	{
		kustos_selector_close(get());
	}

	bool leads() const noexcept
	{
		return kustos_selector_leads(get()) != 0;
	}

	enum kustos_selector_state state() const noexcept
	{
		return kustos_selector_state(get());
	}

	/* Its term; 0 if it does not lead. */
	int64_t token() const noexcept
	{
		return kustos_selector_term(get());
	}

	/* Store something else than its id, while it leads. */
	void set_data(std::string_view data, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_selector_set_data(get(), data.data(),
			data.size(), until.get(), c));
	}

	/* Asks the function to return; then the first waiting candidate with
	   "id" leads.  Do not call this in the function: it would wait for
	   itself. */
	void hand_over(const std::string &id, deadline until = {},
		kustos_cancel *c = nullptr)
	{
		detail::check(kustos_selector_hand_over(get(), detail::text(id),
			until.get(), c));
	}

	void hand_over_to_next(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_selector_hand_over(get(), nullptr,
			until.get(), c));
	}

	kustos_selector *get() const noexcept
	{
		return selector_.get();
	}

      private:
	void make(const client &c, const std::string &path, options o)
	{
		kustos_selector *made = nullptr;

		o.lead = *lead_ ? run : nullptr;
		o.arg = lead_.get();
		detail::check(kustos_selector_create(c.get(),
			detail::text(path), &o, &made));
		selector_.reset(made);
	}

	static void run(void *arg, kustos_selector *, kustos_hold *h,
		kustos_cancel *stop) noexcept
	{
		(*static_cast<work *>(arg))(term(h, stop));
	}

	std::unique_ptr<work> lead_; /* outlives the selector */
	std::unique_ptr<kustos_selector, detail::with<kustos_selector_destroy>>
		selector_;
};

} // namespace kustos
#endif
