"""kustos_lock.py - a kazoo lock that Kustos and Curator wait for.

A stock kazoo Lock does not wait for the nodes of Curator and Kustos, and Curator
does not wait for those of kazoo: two programs would hold the lock at once.  kazoo's
option extra_lock_patterns helps in one direction only.  Copy this file, and use
its classes wherever you would use kazoo's:

    from kazoo.client import KazooClient
    from kustos_lock import KustosLock

    client = KazooClient("127.0.0.1:2181")
    client.start()
    with KustosLock(client, "/locks/report", "who-i-am"):
        write_report()

A read/write lock is a pair of them:

    with KustosReadLock(client, "/locks/table"):
        look_up()
    with KustosWriteLock(client, "/locks/table"):
        change()

Before version 2.9.0, a reader of kazoo also waits for writers that came later
than itself: both may wait for ever.  Use KustosReadLock only where no process
writes while it waits, or use a later kazoo.

For an election:

    election = client.Election("/election")
    election.lock = KustosLock(client, "/election", "who-i-am")

kazoo looks for the parent node only once for each lock object, and Curator's
and Kustos' parents are containers, which the server removes when they have
been empty for a while: make a new object for each use, as above, or create
the parent as a persistent node before anybody else does.

Tested with kazoo 2.8.0.
"""
from kazoo.recipe.lock import Lock


class KustosLock(Lock):
    """Waits for, and is waited for by, Kustos and Curator."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


class KustosReadLock(Lock):
    """The reading side of kustos_rwlock and InterProcessReadWriteLock."""

    _NODE_NAME = "-__READ__"
    _EXCLUDE_NAMES = ["__WRIT__"]


class KustosWriteLock(Lock):
    """The writing side of the same."""

    _NODE_NAME = "-__WRIT__"
    _EXCLUDE_NAMES = ["__WRIT__", "__READ__"]
