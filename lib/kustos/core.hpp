/*
 * kustos/core.hpp - errors, deadlines, cancel objects, clients and holds, in
 * C++.
 * Link with -lkustos (pkg-config kustos).  <kustos/kustos.hpp> includes
 * everything, and documents what all classes have in common.
 */
#ifndef KUSTOS_CORE_HPP
#define KUSTOS_CORE_HPP

#if defined(_MSVC_LANG) ? _MSVC_LANG < 201703L : __cplusplus < 201703L
#error "the headers of Kustos for C++ need C++17"
#endif

#include <kustos/base.h>
#include <kustos/cancel.h>
#include <kustos/client.h>
#include <kustos/hold.h>
#include <kustos/lockable.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kustos
{

/* An error that a call of C returned. */
class error : public std::runtime_error
{
      public:
	explicit error(kustos_err code)
		: std::runtime_error(kustos_strerror(code)), code_(code)
	{
	}

	kustos_err code() const noexcept
	{
		return code_;
	}

      private:
	kustos_err code_;
};

namespace detail
{

inline void check(kustos_err err)
{
	if (err != KUSTOS_OK)
		throw error(err);
}

/* Whether a wait was granted; false if it ended as the caller allowed. */
inline bool granted(kustos_err err)
{
	if (err == KUSTOS_ETIMEDOUT || err == KUSTOS_EBUSY ||
		err == KUSTOS_ECANCELED || err == KUSTOS_EEMPTY)
		return false;
	check(err);
	return true;
}

/* As a string of C, which would end at a zero byte. */
inline const char *text(const std::string &s)
{
	if (s.find('\0') != s.npos)
		throw error(KUSTOS_EINVAL);
	return s.c_str();
}

/* Frees with the function of C. */
template <auto function> struct with {
	template <typename object> void operator()(object *o) const noexcept
	{
		function(o);
	}
};

/* The argument of a call of C that calls back once: the outcome is passed to
   "fn", which is then freed. */
using end_fn = std::function<void(kustos_err)>;

inline void tell_end(void *arg, kustos_err err) noexcept
{
	const std::unique_ptr<end_fn> fn(static_cast<end_fn *>(arg));

	(*fn)(err);
}

/* Start such a call with "start(function, argument)". */
template <typename starts> void with_end(end_fn fn, starts start)
{
	auto arg = fn ? std::make_unique<end_fn>(std::move(fn)) : nullptr;

	check(start(arg ? tell_end : nullptr, arg.get()));
	static_cast<void>(arg.release());
}

} // namespace detail

/* A point in time, or a time from now; forever by default. */
class deadline
{
      public:
	constexpr deadline() noexcept : at_(KUSTOS_FOREVER)
	{
	}

	/* Rounded up to a millisecond, so that no wait ends too early. */
	template <typename rep, typename period>
	deadline(std::chrono::duration<rep, period> d)
		: at_(d <= d.zero() ? KUSTOS_NOW
				    : kustos_after_ms(milliseconds(d)))
	{
	}

	template <typename duration>
	deadline(std::chrono::time_point<std::chrono::steady_clock, duration> t)
		: at_(point(t, std::chrono::steady_clock::now()))
	{
	}

	static constexpr deadline forever() noexcept
	{
		return deadline();
	}

	static constexpr deadline now() noexcept
	{
		deadline d;
		d.at_ = KUSTOS_NOW;
		return d;
	}

	constexpr kustos_deadline get() const noexcept
	{
		return at_;
	}

      private:
	/* In floating point, as durations such as hours::max() are too long
	   for the integer of another unit. */
	template <typename duration> static int64_t milliseconds(duration d)
	{
		const double limit = 1e15; /* some 30,000 years */
		const double ms = std::chrono::duration<double, std::milli>(d)
					  .count();

		if (!(ms < limit))
			return INT64_MAX;
		return std::chrono::ceil<std::chrono::milliseconds>(d).count();
	}

	/* The difference of times that are far apart, as time_point::min() is
	   from now, may be too large for its integer. */
	template <typename to, typename from>
	static kustos_deadline point(to t, from now)
	{
		using seconds = std::chrono::duration<double>;
		const double limit = 4e9; /* some 120 years */
		const double left = seconds(t.time_since_epoch()).count() -
			seconds(now.time_since_epoch()).count();

		if (!(left < limit))
			return KUSTOS_FOREVER;
		return left < -limit ? KUSTOS_NOW : deadline(t - now).get();
	}

	kustos_deadline at_;
};

/* Ends, from any thread, every wait that was given it.  After fork() the child
   makes one of its own. */
class cancel
{
      public:
	cancel()
	{
		kustos_cancel *made = nullptr;

		detail::check(kustos_cancel_create(&made));
		cancel_.reset(made);
	}

	void fire() noexcept
	{
		kustos_cancel_fire(get());
	}

	bool fired() const noexcept
	{
		return kustos_cancel_fired(get()) != 0;
	}

	/* For parameters of this type. */
	operator kustos_cancel *() const noexcept
	{
		return get();
	}

	kustos_cancel *get() const noexcept
	{
		return cancel_.get();
	}

      private:
	std::unique_ptr<kustos_cancel, detail::with<kustos_cancel_destroy>>
		cancel_;
};

/* One session.  The destructor waits up to two seconds until the server knows
   of the end; close() reports the outcome. */
class client
{
      public:
	explicit client(const kustos_client_options &options)
	{
		kustos_client *made = nullptr;

		detail::check(kustos_client_open(&options, &made));
		client_.reset(made);
	}

	/* With all defaults.  Does not wait for the connection. */
	explicit client(const std::string &hosts) : client(with_hosts(hosts))
	{
	}

	void wait_connected(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(
			kustos_client_wait_connected(get(), until.get(), c));
	}

	/* Wait until all that was sent is answered, including releases. */
	void flush(deadline until = {}, kustos_cancel *c = nullptr)
	{
		detail::check(kustos_client_flush(get(), until.get(), c));
	}

	/* Throws KUSTOS_ELINGERING if the server could not be told. */
	void close(deadline budget = std::chrono::seconds(2))
	{
		detail::check(kustos_client_close(client_.release(),
			budget.get(), nullptr));
	}

	kustos_state state() const noexcept
	{
		return kustos_client_state(get());
	}

	std::chrono::milliseconds lease() const noexcept
	{
		return std::chrono::milliseconds(kustos_client_lease_ms(get()));
	}

	kustos_client *get() const noexcept
	{
		return client_.get();
	}

      private:
	struct closer {
		void operator()(kustos_client *c) const noexcept
		{
			kustos_client_close(c, kustos_after_ms(2000), nullptr);
		}
	};

	static kustos_client_options with_hosts(const std::string &hosts)
	{
		kustos_client_options o = KUSTOS_CLIENT_OPTIONS_INIT;

		o.hosts = detail::text(hosts);
		return o;
	}

	std::unique_ptr<kustos_client, closer> client_;
};

/* What was granted, or nothing; released when it ends. */
class hold
{
      public:
	hold() = default;

	/* Own a hold of C. */
	explicit hold(kustos_hold *h) noexcept : hold_(h)
	{
	}

	hold(hold &&other) noexcept
		: hold_(std::exchange(other.hold_, nullptr)),
		  on_lost_(std::move(other.on_lost_))
	{
	}

	hold &operator=(hold &&other) noexcept
	{
		hold given(std::move(other));

		std::swap(hold_, given.hold_);
		std::swap(on_lost_, given.on_lost_);
		return *this;
	}

	~hold()
	{
		drop();
	}

	explicit operator bool() const noexcept
	{
		return hold_ != nullptr;
	}

	/* Throws KUSTOS_ELOST if it had been lost: the work that it protected
	   may have overlapped with another holder's.  Does nothing if there is
	   nothing to release. */
	void release()
	{
		const kustos_err err = drop();

		detail::check(err);
	}

	enum kustos_hold_state state() const noexcept
	{
		return hold_ ? kustos_hold_state(get()) : KUSTOS_HOLD_LOST;
	}

	std::chrono::milliseconds remaining() const noexcept
	{
		return std::chrono::milliseconds(
			hold_ ? kustos_hold_remaining_ms(get()) : 0);
	}

	/* 0 if there is nothing. */
	int64_t token() const noexcept
	{
		return hold_ ? kustos_hold_token(get()) : 0;
	}

	std::string path() const
	{
		return hold_ ? kustos_hold_path(get()) : "";
	}

	/* Have "fn" called once when it is lost, on a thread of the client; an
	   empty "fn" removes that.  An exception that leaves "fn" ends the
	   program.  "fn" must not release this hold. */
	void on_lost(std::function<void()> fn)
	{
		on_lost_.push_back(
			std::make_unique<std::function<void()>>(std::move(fn)));

		const kustos_err err = kustos_hold_on_lost(get(),
			*on_lost_.back() ? call : nullptr,
			on_lost_.back().get());
		if (err != KUSTOS_OK)
			on_lost_.pop_back();
		detail::check(err);
	}

	kustos_hold *get() const noexcept
	{
		return hold_;
	}

      private:
	static void call(void *arg, kustos_hold *) noexcept
	{
		(*static_cast<std::function<void()> *>(arg))();
	}

	kustos_err drop() noexcept
	{
		const kustos_err err = kustos_hold_release(
			std::exchange(hold_, nullptr));

		on_lost_.clear();
		return err;
	}

	kustos_hold *hold_ = nullptr;
	/* A replaced function may still be running, so all go with the hold. */
	std::vector<std::unique_ptr<std::function<void()>>> on_lost_;
};

/* Several locks (their lockable()) together: all or none.  The locks must
   outlive the hold. */
inline hold acquire_all(const std::vector<kustos_lockable> &locks,
	kustos_cancel *c = nullptr)
{
	kustos_hold *h = nullptr;

	detail::check(kustos_acquire_all(locks.data(), locks.size(),
		KUSTOS_FOREVER, c, &h));
	return hold(h);
}

/* Nothing if they could not all be had by "until", or if canceled. */
inline hold try_acquire_all(const std::vector<kustos_lockable> &locks,
	deadline until = deadline::now(), kustos_cancel *c = nullptr)
{
	kustos_hold *h = nullptr;

	detail::granted(kustos_acquire_all(locks.data(), locks.size(),
		until.get(), c, &h));
	return hold(h);
}

namespace detail
{

/* A lock that belongs to a thread, or is held: mutex and simple. */
template <typename object, typename options_type, auto create, auto destroy,
	auto lock_until, auto unlock_it, auto acquire_until, auto hold_of,
	auto token_of, auto lockable_of>
class exclusive
{
      public:
	using options = options_type;

	exclusive(const client &c, const std::string &path,
		const options *o = nullptr)
	{
		object *made = nullptr;

		check(create(c.get(), detail::text(path), o, &made));
		lock_.reset(made);
	}

	hold acquire(kustos_cancel *c = nullptr)
	{
		kustos_hold *h = nullptr;

		check(acquire_until(get(), KUSTOS_FOREVER, c, &h));
		return hold(h);
	}

	/* Nothing if it could not be had by "until", or if canceled. */
	hold try_acquire(deadline until = deadline::now(),
		kustos_cancel *c = nullptr)
	{
		kustos_hold *h = nullptr;

		granted(acquire_until(get(), until.get(), c, &h));
		return hold(h);
	}

	/* For acquire_all(). */
	kustos_lockable lockable() const noexcept
	{
		return lockable_of(get());
	}

	/* For this thread, and for std::unique_lock and the like. */
	void lock()
	{
		check(lock_until(get(), KUSTOS_FOREVER, nullptr));
	}

	bool try_lock()
	{
		return granted(lock_until(get(), KUSTOS_NOW, nullptr));
	}

	bool try_lock_until(deadline until)
	{
		return granted(lock_until(get(), until.get(), nullptr));
	}

	bool try_lock_for(deadline until)
	{
		return try_lock_until(until);
	}

	/* Returns KUSTOS_ELOST if it had been lost.  Does not throw, as is
	   expected of an unlock. */
	kustos_err unlock() noexcept
	{
		return unlock_it(get());
	}

	/* The token of this thread's lock, or 0 if there is none. */
	int64_t token() const noexcept
	{
		return token_of(get());
	}

	enum kustos_hold_state state() const noexcept
	{
		kustos_hold *h = hold_of(get());

		return h ? kustos_hold_state(h) : KUSTOS_HOLD_LOST;
	}

	object *get() const noexcept
	{
		return lock_.get();
	}

      private:
	std::unique_ptr<object, with<destroy>> lock_;
};

} // namespace detail

} // namespace kustos

#endif
