/* bed.hpp - what the tests of the headers for C++ share. */
#ifndef KU_CPP_BED_HPP
#define KU_CPP_BED_HPP

#include <kustos/core.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>

using namespace std::chrono_literals;

#define ENSURE(what)                                                        \
	do {                                                                \
		if (!(what)) {                                              \
			std::printf("%s:%d: not: %s\n", __FILE__, __LINE__, \
				#what);                                     \
			std::fflush(stdout);                                \
			std::_Exit(1);                                      \
		}                                                           \
	} while (0)

/* The longest that anything may take on a busy machine. */
constexpr auto PATIENCE = 30s;

inline const char *hosts()
{
	return std::getenv("KUSTOS_HOSTS");
}

/* Return the error that "call" throws, or KUSTOS_OK if it throws none. */
template <typename fn> kustos_err thrown(fn call)
{
	try {
		call();
	} catch (const kustos::error &e) {
		ENSURE(std::string(e.what()) == kustos_strerror(e.code()));
		return e.code();
	}
	return KUSTOS_OK;
}

/* A value that one thread passes on and another waits for. */
class notice
{
      public:
	void say(int64_t what)
	{
		const std::lock_guard<std::mutex> guard(mutex_);

		said_.push_back(what);
		changed_.notify_all();
	}

	int64_t await(std::size_t index)
	{
		std::unique_lock<std::mutex> guard(mutex_);

		ENSURE(changed_.wait_for(guard, PATIENCE,
			[&] { return said_.size() > index; }));
		return said_[index];
	}

	/* A false result is no proof: a busy machine may be late. */
	bool came_within(std::chrono::milliseconds time)
	{
		std::unique_lock<std::mutex> guard(mutex_);

		return changed_.wait_for(guard, time,
			[&] { return !said_.empty(); });
	}

      private:
	std::mutex mutex_;
	std::condition_variable changed_;
	std::vector<int64_t> said_;
};

#endif
