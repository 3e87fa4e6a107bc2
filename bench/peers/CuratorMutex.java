/*
 * CuratorMutex.java - Curator's InterProcessMutex under bench/compare, as
 * driver.h says; and, for the styles "read" and "write", which are like "own",
 * a side of its InterProcessReadWriteLock.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.data.Stat;

public final class CuratorMutex {
	private static final int SESSION_MS = 30000;
	private static final int PATIENCE_MS = 30000;
	private static final List<String> STYLES =
		Arrays.asList("own", "shared", "read", "write");

	/* One that locks and unlocks, and what it met while it was counted. */
	private final class Worker implements Runnable {
		final InterProcessMutex mutex;
		long[] waits = new long[16]; /* microseconds */
		volatile int counted;

		Worker(InterProcessMutex mutex) {
			this.mutex = mutex;
		}

		/* Closing its client ends it, however deep in the line. */
		public void run() {
			try {
				while (!stopping)
					lockOnce();
			} catch (Exception e) {
				if (!stopping)
					failure = e;
			}
		}

		private void lockOnce() throws Exception {
			boolean counts = counting;
			long begin = System.nanoTime();

			mutex.acquire();
			long wait = System.nanoTime() - begin;
			count.incrementAndGet();
			mutex.release();
			if (counts && counting)
				remember(wait / 1000);
		}

		/* Those counted, of which there may be one more by now. */
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

	private final String hosts;
	private final String path;
	private final String style;
	private final boolean shared;
	private final List<CuratorFramework> clients = new ArrayList<>();
	private final List<Worker> workers = new ArrayList<>();
	private final List<Thread> threads = new ArrayList<>();
	private final AtomicLong count = new AtomicLong();
	private volatile boolean counting;
	private volatile boolean stopping;
	private volatile Exception failure;

	private CuratorMutex(String hosts, String style, String path) {
		if (!STYLES.contains(style))
			throw new IllegalArgumentException("no such style");
		this.style = style;
		this.hosts = hosts;
		this.path = path;
		this.shared = style.equals("shared");
	}

	private CuratorFramework open() throws InterruptedException {
		CuratorFramework client = CuratorFrameworkFactory.newClient(
			hosts, SESSION_MS, SESSION_MS,
			new ExponentialBackoffRetry(100, 29));

		client.start();
		if (!client.blockUntilConnected(PATIENCE_MS,
				TimeUnit.MILLISECONDS))
			throw new IllegalStateException("no connection");
		return client;
	}

	/* A lock on the path: one that waits, or one that all wait for. */
	private InterProcessMutex lock(CuratorFramework client, boolean gate) {
		if (style.equals("read") && !gate)
			return new InterProcessReadWriteLock(client, path)
				.readLock();
		if (style.equals("read") || style.equals("write"))
			return new InterProcessReadWriteLock(client, path)
				.writeLock();
		return new InterProcessMutex(client, path);
	}

	private void start(int number) {
		InterProcessMutex one = lock(clients.get(0), false);

		for (int i = 0; i < number; i++) {
			InterProcessMutex mutex = shared ? one :
				lock(clients.get(i % clients.size()), false);
			Worker worker = new Worker(mutex);
			Thread thread = new Thread(worker);

			workers.add(worker);
			thread.setDaemon(true);
			thread.start();
			threads.add(thread);
		}
	}

	private void awaitLine(CuratorFramework client, int length)
			throws Exception {
		long end = System.nanoTime() + PATIENCE_MS * 1000000L;

		for (;;) {
			Stat stat = client.checkExists().forPath(path);

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
	private void gather(int number) throws Exception {
		try (CuratorFramework gate = open()) {
			InterProcessMutex mutex = lock(gate, true);

			mutex.acquire();
			start(number);
			awaitLine(gate, number + 1);
			mutex.release();
		}
	}

	private String measure(int leadMs, int ms) throws Exception {
		Thread.sleep(leadMs);
		long from = System.nanoTime();
		long done = count.get();
		counting = true;
		Thread.sleep(ms);
		counting = false;
		done = count.get() - done;
		from = System.nanoTime() - from;
		if (failure != null)
			throw failure;
		return String.format("ops=%d us=%d", done, from / 1000) + more();
	}

	/* What was met on the way: waits in microseconds, and how even it was. */
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

	private void stop() throws InterruptedException {
		stopping = true;
		for (CuratorFramework client : clients)
			client.close();
		for (Thread thread : threads)
			thread.interrupt();
		for (Thread thread : threads)
			thread.join();
	}

	private String run(int sessions, int workers, int leadMs, int ms)
			throws Exception {
		try {
			for (int i = 0; i < sessions; i++)
				clients.add(open());
			if (shared)
				start(workers);
			else
				gather(workers);
			return measure(leadMs, ms);
		} finally {
			stop();
		}
	}

	private static String answer(String hosts, String question) {
		String[] word = question.split(" ");

		try {
			return new CuratorMutex(hosts, word[0], word[1]).run(
				Integer.parseInt(word[2]),
				Integer.parseInt(word[3]),
				Integer.parseInt(word[4]),
				Integer.parseInt(word[5]));
		} catch (Exception e) {
			return "error " + e;
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(
			new InputStreamReader(System.in));
		String question;

		while ((question = in.readLine()) != null)
			System.out.println(answer(args[0], question));
		System.exit(0); /* whatever threads a client has left */
	}
}
