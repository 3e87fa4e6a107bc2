/*
 * CuratorMutex.java - Curator's InterProcessMutex under bench/compare, as
 * driver.h says; and, for styles that are like "own": "read" and "write", a side
 * of its InterProcessReadWriteLock; "lease", its InterProcessSemaphoreV2; "lead",
 * its LeaderLatch, one for each turn; "pair", which is like "shared", its
 * InterProcessMultiLock of two mutexes; and "reenter", one thread that locks what
 * it holds, for which the processor's time is counted.
 */
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.zookeeper.data.Stat;

public final class CuratorMutex extends Driver {
	private static final List<String> STYLES =
		Arrays.asList("own", "shared", "read", "write", "lease",
			"lead", "pair", "reenter");
	private static final int BATCH = 1000; /* locks between two looks */
	private static final int LEASES = 5; /* that a semaphore has */

	/* What a worker locks. */
	private interface Lock {
		void acquire() throws Exception;
		void release() throws Exception;
	}

	private static final class MutexLock implements Lock {
		private final InterProcessLock mutex;

		MutexLock(InterProcessLock mutex) {
			this.mutex = mutex;
		}

		public void acquire() throws Exception {
			mutex.acquire();
		}

		public void release() throws Exception {
			mutex.release();
		}
	}

	/* One lease; or, at the gate, all of them. */
	private static final class LeaseLock implements Lock {
		private final InterProcessSemaphoreV2 semaphore;
		private final int number;
		private Collection<Lease> leases;

		LeaseLock(CuratorFramework client, String path, int number) {
			this.semaphore = new InterProcessSemaphoreV2(client,
				path, LEASES);
			this.number = number;
		}

		public void acquire() throws Exception {
			leases = semaphore.acquire(number);
		}

		public void release() {
			semaphore.returnAll(leases);
		}
	}

	private static final class ElectionLock implements Lock {
		private final CuratorFramework client;
		private final String path;
		private LeaderLatch latch;

		ElectionLock(CuratorFramework client, String path) {
			this.client = client;
			this.path = path;
		}

		public void acquire() throws Exception {
			latch = new LeaderLatch(client, path);
			latch.start();
			latch.await();
		}

		public void release() throws Exception {
			latch.close();
		}
	}

	/* A worker that locks and unlocks, and the waits that were counted. */
	private final class Worker {
		final Lock lock;
		long[] waits = new long[16]; /* microseconds */
		volatile int counted;

		Worker(Lock lock) {
			this.lock = lock;
		}

		/* Ends when its client is closed, wherever it is in the line. */
		void run() throws Exception {
			while (!stopping)
				lockOnce();
		}

		private void lockOnce() throws Exception {
			boolean counts = counting;
			long begin = System.nanoTime();

			lock.acquire();
			long wait = System.nanoTime() - begin;
			count.incrementAndGet();
			lock.release();
			if (counts && counting)
				remember(wait / 1000);
		}

		/* The waits that were counted; one more may be added meanwhile. */
		LongStream seen() {
			int n = counted;

			return Arrays.stream(waits, 0, n);
		}

		private void remember(long wait) {
			if (counted == waits.length)
				waits = Arrays.copyOf(waits, 2 * counted);
			waits[counted] = wait;
			counted++;
		}
	}

	private final boolean shared;
	private final List<Worker> workers = new ArrayList<>();
	private final List<Thread> threads = new ArrayList<>();
	private final AtomicLong count = new AtomicLong();
	private volatile boolean counting;
	private volatile boolean stopping;

	private CuratorMutex(String hosts, String question) {
		super(hosts, question);
		if (!STYLES.contains(style))
			throw noSuchStyle();
		this.shared = style.equals("shared") || style.equals("pair");
	}

	/* Make a lock on the path: the gate, which all wait for, or one of those
	   that wait. */
	private Lock lock(CuratorFramework client, boolean gate) {
		switch (style) {
		case "read":
		case "write":
			InterProcessReadWriteLock rw =
				new InterProcessReadWriteLock(client, path);
			return new MutexLock(style.equals("read") && !gate
				? rw.readLock() : rw.writeLock());
		case "lease":
			return new LeaseLock(client, path, gate ? LEASES : 1);
		case "lead":
			return new ElectionLock(client, path);
		case "pair":
			return new MutexLock(new InterProcessMultiLock(client,
				Arrays.asList(path, path + "-second")));
		default:
			return new MutexLock(
				new InterProcessMutex(client, path));
		}
	}

	private void start() {
		Lock one = lock(clients.get(0), false);

		for (int i = 0; i < workerCount; i++) {
			Worker worker = new Worker(shared ? one :
				lock(clients.get(i % clients.size()), false));

			workers.add(worker);
			threads.add(start(worker::run));
		}
	}

	/* Wait until all workers stand behind a lock of ours; or, where they
	   want leases, in a line for those who wait. */
	private void awaitLine(CuratorFramework client) throws Exception {
		boolean leases = style.equals("lease");
		String line = leases ? path + "/locks" : path;
		int length = leases ? workerCount : workerCount + 1;
		long end = System.nanoTime() + PATIENCE_MS * 1000000L;

		for (;;) {
			Stat stat = client.checkExists().forPath(line);

			if (stat != null && stat.getNumChildren() >= length)
				return;
			if (failure != null)
				throw failure;
			if (System.nanoTime() > end)
				throw new IllegalStateException("no full line");
			Thread.sleep(1);
		}
	}

	/* Have everyone line up behind a lock of ours. */
	private void gather() throws Exception {
		try (CuratorFramework gate = connect()) {
			Lock lock = lock(gate, true);

			lock.acquire();
			start();
			awaitLine(gate);
			lock.release();
		}
	}

	private String measure() throws Exception {
		Thread.sleep(leadMs);
		long from = System.nanoTime();
		long done = count.get();
		counting = true;
		Thread.sleep(ms);
		counting = false;
		done = count.get() - done;
		from = System.nanoTime() - from;
		return answer(done, from) + more();
	}

	/* Further figures: waits in microseconds, and how evenly the locks were
	   distributed. */
	private String more() {
		long[] each = workers.stream().mapToLong(w -> w.counted)
			.sorted().toArray();
		long[] waits = workers.stream()
			.flatMapToLong(Worker::seen)
			.sorted().toArray();
		double sum = LongStream.of(each).sum();
		double squares = LongStream.of(each).map(n -> n * n).sum();
		int last = waits.length - 1;

		if (last < 0)
			return "";
		return String.format(Locale.ROOT, " p50_us=%d p90_us=%d p99_us=%d"
				+ " max_us=%d fewest=%d most=%d jain=%.4f",
			waits[last * 50 / 100], waits[last * 90 / 100],
			waits[last * 99 / 100], waits[last], each[0],
			each[each.length - 1],
			sum * sum / (each.length * squares));
	}

	private static long processorNs() {
		return ManagementFactory.getThreadMXBean()
			.getCurrentThreadCpuTime();
	}

	private String reenter() throws Exception {
		Lock lock = lock(clients.get(0), false);
		long end = System.nanoTime() + ms * 1000000L;
		long done = 0;

		lock.acquire();
		long from = processorNs();
		for (; System.nanoTime() < end; done += BATCH)
			for (int i = 0; i < BATCH; i++) {
				lock.acquire();
				lock.release();
			}
		from = processorNs() - from;
		lock.release();
		return answer(done, from);
	}

	@Override
	void end() throws InterruptedException {
		stopping = true;
		super.end();
		for (Thread thread : threads)
			thread.interrupt();
		join(threads);
	}

	@Override
	String run() throws Exception {
		for (int i = 0; i < sessionCount; i++)
			open();
		if (style.equals("reenter"))
			return reenter();
		if (shared)
			start();
		else
			gather();
		return measure();
	}

	public static void main(String[] args) throws IOException {
		serve(args, CuratorMutex::new);
	}
}
