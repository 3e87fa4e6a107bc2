"""workloads.py - what bench/compare measures, of whom, and what is to be reached."""

# Workload, what it is, sessions, workers, and everyone's style (driver.h).
WORKLOADS = [
    ("alone", "uncontended lock and unlock", 1, 1,
     dict(kustos="own", curator="own", kazoo="own", raw="one")),
    ("alone-2", "  the wire with 2 round trips", 1, 1, dict(raw="two")),
    ("read", "read lock, uncontended", 1, 1,
     dict(kustos="read", curator="read", kazoo="read", raw="one")),
    ("write", "write lock, uncontended", 1, 1,
     dict(kustos="write", curator="write", kazoo="write", raw="one")),
    ("lease", "lease of a semaphore, uncontended", 1, 1,
     dict(kustos="lease", curator="lease", kazoo="lease", raw="one")),
    # No peer has it; a program makes the node itself, as the wire does.
    ("simple", "simple lock, uncontended", 1, 1,
     dict(kustos="simple", raw="bare")),
    # Curator's InterProcessMultiLock; one after the other, for both.  kazoo has
    # none.
    ("pair", "two locks together, uncontended", 1, 1,
     dict(kustos="pair", curator="pair", raw="pair")),
    ("clients", "8 clients, a hand-off", 8, 8,
     dict(kustos="own", curator="own", kazoo="own", raw="line")),
    ("lead", "become leader, alone", 1, 1,
     dict(kustos="lead", curator="lead", kazoo="lead", raw="one")),
    ("leaders", "8 candidates, a hand-over", 8, 8,
     dict(kustos="lead", curator="lead", kazoo="lead", raw="line")),
    ("leases", "semaphore of 5, 16 clients, a grant", 16, 16,
     dict(kustos="lease", curator="lease", kazoo="lease", raw="leases")),
    # Within one process, where there is no wire.
    ("threads", "8 threads of one client, a hand-off", 1, 8,
     dict(kustos="shared", curator="shared", kazoo="shared")),
    ("fifo", "  with local_handoffs = 0", 1, 8, dict(kustos="fifo")),
    # A holder and so many behind it; 8 clients tell of kazoo and the wire.
    ("line-2", "2 waiting, a hand-off", 3, 3,
     dict(kustos="async", curator="own")),
    ("line-10", "10 waiting, a hand-off", 8, 11, dict(kustos="async", curator="own")),
    ("line-100", "100 waiting, a hand-off", 8, 101, dict(kustos="async", curator="own")),
    ("line-1000", "1000 waiting, a hand-off", 8, 1001,
     dict(kustos="async", curator="own")),
    ("line-2000", "2000 waiting, a hand-off", 8, 2001,
     dict(kustos="async", curator="own")),
    # This too stays within the process. Curator only counts, and does not look whether
    # it still holds; kazoo's lock would wait for itself.
    ("reentry", "lock and unlock of what is held", 1, 1,
     dict(kustos="reenter", curator="reenter")),
    # Of queues; what is counted is items.
    ("turn", "queue: put and take in turn", 1, 1,
     dict(kustos="queue:turn", curator="queue:turn", kazoo="other:turn",
          raw="deeds")),
    ("turn-2", "  the wire without receipts", 1, 1, dict(raw="two")),
    ("drain", "queue: take of 1000", 1, 1,
     dict(kustos="queue:drain", curator="queue:drain",
          kazoo="other:drain", raw="drain")),
    ("single", "  one at a time", 1, 1,
     dict(kustos="queue:single", raw="single")),
    # The frames are Curator's.
    ("framed", "framed queue: put and take of 2000", 1, 1,
     dict(kustos="queue:framed", curator="queue:framed", raw="framed")),
    # Peers have no call that takes so many: Curator's has one node for all, and
    # kazoo's one transaction, which is too long for a server.
    ("bulk", "queue: put of 10,000 at once", 1, 1,
     dict(kustos="queue:bulk", raw="bulk")),
    # kazoo's queue is in the rows above; here it would take minutes.
    ("crowd-8", "4 that put, 4 that take, 20,000 items", 8, 8,
     dict(kustos="queue:crowd", curator="queue:crowd", raw="crowd")),
    ("claim", "claim and ack of 200", 1, 1,
     dict(kustos="queue:claim", curator="queue:claim", kazoo="other:claim",
          raw="claim")),
    # Of kazoo it is the Election, which runs a function as well.
    ("select", "selector: lead and return, alone", 1, 1,
     dict(kustos="together:select", curator="together:select",
          kazoo="other:select", raw="one")),
    ("gate", "barrier: set, look, remove, pass", 1, 1,
     dict(kustos="together:gate", curator="together:gate",
          kazoo="other:gate", raw="gate")),
    ("step", "double barrier of 8: in and out", 8, 8,
     dict(kustos="together:step", curator="together:step",
          kazoo="other:step", raw="step")),
    # No peer has one; a counter that is shared does not know who has counted.
    ("count", "count-down latch of 8, whole", 1, 1,
     dict(kustos="together:count", raw="count")),
    ("memory", "10,000 waiting, an object each", 1, 10000,
     dict(kustos="memory")),
    ("crowd", "10,000 waiting, one object", 1, 10000, dict(kustos="crowd")),
]
FRESH = ("memory", "crowd", "bulk")  # in a process that did nothing else
SLOW = ("crowd-8",)  # not run to warm up
LONG = 1000  # workers: takes a while, so it is not run to warm up

# What is measured, in which unit, what it is compared with, and the target.
CHECKS = [
    ("alone", "us", ("alone", "curator"), 0.55),
    ("alone", "us", ("alone", "raw"), 1.25),
    ("read", "us", ("read", "curator"), 0.55),
    ("write", "us", ("write", "curator"), 0.55),
    ("lease", "us", ("lease", "curator"), 0.40),
    ("lead", "us", ("lead", "curator"), 0.55),
    ("leaders", "us", ("leaders", "curator"), 0.50),
    ("clients", "us", ("clients", "curator"), 0.50),
    ("leases", "us", ("leases", "curator"), 0.50),
    ("threads", "us", ("threads", "curator"), 0.02),
    ("fifo", "us", ("threads", "curator"), 0.50),
    ("line-1000", "us", ("line-2", "kustos"), 1.4),
    ("line-2000", "us", ("line-2", "kustos"), 1.7),
    ("turn", "us", ("turn", "curator"), 0.60),
    ("drain", "us", ("drain", "curator"), 0.15),
    ("framed", "us", ("framed", "curator"), 0.20),
    ("crowd-8", "us", ("crowd-8", "curator"), 0.30),
    ("bulk", "us", None, 100),
    ("bulk", "bytes", None, 400),
    ("reentry", "us", None, 0.1),
    ("memory", "bytes", None, 2048),
    ("memory", "threads", None, 4),
]

# Further figures of Kustos, where a workload has them.
MORE = dict(requests="requests each", bytes="bytes each",
            threads="threads for all")
