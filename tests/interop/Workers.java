/*
 * Workers.java - the commands of peer.h for queue items that are consumed under
 * a lock; used by Peer.java.
 */
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;

final class Workers {
	private final CuratorFramework client;
	private final Map<String, Worker> workers = new HashMap<>();

	Workers(CuratorFramework client) {
		this.client = client;
	}

	private static final class Text implements QueueSerializer<String> {
		@Override
		public byte[] serialize(String item) {
			return item.getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public String deserialize(byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}
	}

	/* Consumes items; each takes a while. */
	private static final class Worker implements QueueConsumer<String> {
		final List<String> items =
			Collections.synchronizedList(new ArrayList<>());
		private final long ms;

		Worker(long ms) {
			this.ms = ms;
		}

		@Override
		public void consumeMessage(String item) throws Exception {
			items.add(item);
			Thread.sleep(ms);
		}

		@Override
		public void stateChanged(CuratorFramework c, ConnectionState s) {
		}
	}

	private DistributedQueue<String> queue(Worker worker, String path)
			throws Exception {
		DistributedQueue<String> queue = QueueBuilder.builder(client,
			worker, new Text(), path).lockPath(path + "-locks")
			.buildQueue();

		queue.start();
		return queue;
	}

	private String consume(String path, long ms) throws Exception {
		workers.put(path, new Worker(ms));
		queue(workers.get(path), path);
		return "ok";
	}

	private String feed(String path, int from, int to) throws Exception {
		try (DistributedQueue<String> queue = queue(null, path)) {
			for (int i = from; i < to; i++)
				queue.put(Integer.toString(i));
			queue.flushPuts(60, java.util.concurrent.TimeUnit.SECONDS);
		}
		return "ok";
	}

	private String consumed(String path) {
		List<String> items = new ArrayList<>(workers.get(path).items);

		return "consumed " + items.size() + " " + String.join(" ", items);
	}

	/* Returns null for a command of another kind. */
	String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "feed":
			return feed(w[1], Integer.parseInt(w[2]),
				Integer.parseInt(w[3]));
		case "consume":
			return consume(w[1], Long.parseLong(w[2]));
		case "consumed":
			return consumed(w[1]);
		default:
			return null;
		}
	}
}
