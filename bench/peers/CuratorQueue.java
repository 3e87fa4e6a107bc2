/*
 * CuratorQueue.java - Curator's SimpleDistributedQueue and DistributedQueue under
 * bench/compare, with the styles of bench_queue.c: "turn", "drain", "framed",
 * "crowd" and "claim".
 */
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;

public final class CuratorQueue extends Driver {
	private static final int SIDES = 4;
	private static final int CROWD = 20000;
	private static final int CLAIMS = 200;
	private static final byte[] DATA = new byte[10];

	private static final class Bytes implements QueueSerializer<byte[]> {
		public byte[] serialize(byte[] item) {
			return item;
		}

		public byte[] deserialize(byte[] bytes) {
			return bytes;
		}
	}

	private static final class Counter implements QueueConsumer<byte[]> {
		private final CountDownLatch left;

		Counter(CountDownLatch left) {
			this.left = left;
		}

		public void consumeMessage(byte[] item) {
			left.countDown();
		}

		public void stateChanged(CuratorFramework client,
				ConnectionState state) {
		}
	}

	private long ops;
	private long ns;

	private CuratorQueue(String hosts, String question) {
		super(hosts, question);
	}

	private void count(long begin, int items) {
		ns += System.nanoTime() - begin;
		ops += items;
	}

	private void turn(CuratorFramework client, long until)
			throws Exception {
		SimpleDistributedQueue queue =
			new SimpleDistributedQueue(client, path);
		long begin = System.nanoTime();
		int items = 0;

		for (; System.nanoTime() < until; items++) {
			queue.offer(DATA);
			queue.poll(PATIENCE_MS, TimeUnit.MILLISECONDS);
		}
		count(begin, items);
	}

	private void drain(CuratorFramework client) throws Exception {
		SimpleDistributedQueue queue =
			new SimpleDistributedQueue(client, path);

		for (int i = 0; i < 1000; i++)
			queue.offer(DATA);
		long begin = System.nanoTime();
		for (int i = 0; i < 1000; i++)
			queue.poll(PATIENCE_MS, TimeUnit.MILLISECONDS);
		count(begin, 1000);
	}

	private void framed(CuratorFramework client) throws Exception {
		int items = 2000;
		CountDownLatch left = new CountDownLatch(items);
		long begin = System.nanoTime();

		put(client, items);
		try (DistributedQueue<byte[]> consumer = QueueBuilder.builder(
				client, new Counter(left), new Bytes(), path)
				.buildQueue()) {
			consumer.start();
			if (!left.await(PATIENCE_MS, TimeUnit.MILLISECONDS))
				throw new IllegalStateException("items missing");
			count(begin, items);
		}
	}

	private void put(CuratorFramework client, int items) throws Exception {
		try (DistributedQueue<byte[]> producer = QueueBuilder.builder(
				client, null, new Bytes(), path).buildQueue()) {
			producer.start();
			for (int i = 0; i < items; i++)
				producer.put(DATA);
			producer.flushPuts(PATIENCE_MS, TimeUnit.MILLISECONDS);
		}
	}

	/* Consume items that are locked while they are processed. */
	private void claim(CuratorFramework client) throws Exception {
		CountDownLatch left = new CountDownLatch(CLAIMS);

		put(client, CLAIMS);
		try (DistributedQueue<byte[]> consumer = QueueBuilder.builder(
				client, new Counter(left), new Bytes(), path)
				.lockPath(path + "-locks").buildQueue()) {
			long begin = System.nanoTime();

			consumer.start();
			if (!left.await(PATIENCE_MS, TimeUnit.MILLISECONDS))
				throw new IllegalStateException("items missing");
			count(begin, CLAIMS);
		}
	}

	private void crowd() throws Exception {
		AtomicInteger taken = new AtomicInteger();
		List<SimpleDistributedQueue> queues = new ArrayList<>();
		List<Thread> threads = new ArrayList<>();

		for (int i = 0; i < 2 * SIDES; i++)
			queues.add(new SimpleDistributedQueue(open(), path));
		long begin = System.nanoTime();
		for (int i = 0; i < SIDES; i++) {
			SimpleDistributedQueue in = queues.get(2 * i);
			SimpleDistributedQueue out = queues.get(2 * i + 1);

			threads.add(start(() -> {
				for (int n = 0; n < CROWD / SIDES; n++)
					in.offer(DATA);
			}));
			threads.add(start(() -> {
				while (taken.get() < CROWD && failure == null)
					if (out.poll(50, TimeUnit.MILLISECONDS)
							!= null)
						taken.incrementAndGet();
			}));
		}
		join(threads);
		count(begin, CROWD);
	}

	@Override
	String run() throws Exception {
		CuratorFramework client = open();
		long until = System.nanoTime() + ms * 1000000L;

		do {
			if (style.equals("turn"))
				turn(client, until);
			else if (style.equals("drain"))
				drain(client);
			else if (style.equals("framed"))
				framed(client);
			else if (style.equals("crowd"))
				crowd();
			else if (style.equals("claim"))
				claim(client);
			else
				throw noSuchStyle();
		} while (System.nanoTime() < until && failure == null);
		return answer(ops, ns);
	}

	public static void main(String[] args) throws IOException {
		serve(args, CuratorQueue::new);
	}
}
