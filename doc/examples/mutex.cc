// mutex.cc - one report at a time, whichever machine writes it: mutex.c in C++.
#include <kustos/mutex.hpp>

#include <cstdlib>
#include <iostream>

int main()
{
	const char *hosts = std::getenv("KUSTOS_HOSTS");

	try {
		kustos::client client(hosts ? hosts : "127.0.0.1:2181");
		client.wait_connected(std::chrono::seconds(10));
		kustos::mutex mutex(client, "/locks/report");
		kustos::hold held = mutex.try_acquire(std::chrono::seconds(10));
		if (!held) {
			std::cerr << "another writes it\n";
			return 1;
		}
		// Called at the moment when another may have the lock.
		held.on_lost([] {
			std::cerr << "the lock is lost\n";
			std::_Exit(1);
		});
		// A holder's token is greater than those of all holders before
		// it, so the receiver of the reports can refuse one that comes
		// too late.
		std::cout << "writing the report, token " << held.token()
			  << std::endl;
	} catch (const kustos::error &e) {
		std::cerr << e.what() << '\n';
		return 1;
	}
}
