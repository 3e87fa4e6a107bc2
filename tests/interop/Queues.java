/*
 * Queues.java - the commands of peer.h for queues; used by Peer.java.
 */
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.state.ConnectionState;

final class Queues {
	private final CuratorFramework client;
	private final Map<String, Taker> takers = new HashMap<>();
	private final Map<String, DistributedQueue<String>> bounded =
		new HashMap<>();

	Queues(CuratorFramework client) {
		this.client = client;
	}

	static final class Text implements QueueSerializer<String> {
		@Override
		public byte[] serialize(String item) {
			return item.getBytes(StandardCharsets.UTF_8);
		}

		@Override
		public String deserialize(byte[] bytes) {
			return new String(bytes, StandardCharsets.UTF_8);
		}
	}

	/* Takes every item, from the first time it is asked for one. */
	static final class Taker implements QueueConsumer<String> {
		final BlockingQueue<String> items = new LinkedBlockingQueue<>();

		@Override
		public void consumeMessage(String item) {
			items.add(item);
		}

		@Override
		public void stateChanged(CuratorFramework c, ConnectionState s) {
		}
	}

	private QueueBuilder<String> builder(Taker taker, String path) {
		return QueueBuilder.builder(client, taker, new Text(), path)
			.putInBackground(false);
	}

	private void put(String kind, String path, String text, String key)
			throws Exception {
		switch (kind) {
		case "simple":
			new SimpleDistributedQueue(client, path).offer(
				text.getBytes(StandardCharsets.UTF_8));
			break;
		case "priority":
			try (DistributedPriorityQueue<String> queue =
					builder(null, path).buildPriorityQueue(0)) {
				queue.start();
				queue.put(text, Integer.parseInt(key));
			}
			break;
		case "delay":
			try (DistributedDelayQueue<String> queue =
					builder(null, path).buildDelayQueue()) {
				queue.start();
				queue.put(text, Long.parseLong(key));
			}
			break;
		case "id":
			try (DistributedIdQueue<String> queue =
					builder(null, path).buildIdQueue()) {
				queue.start();
				queue.put(text, key);
			}
			break;
		default:
			try (DistributedQueue<String> queue =
					builder(null, path).buildQueue()) {
				queue.start();
				queue.put(text);
			}
		}
	}

	/* Puts these items into one node.  An id queue has no such call. */
	private void bundle(String kind, String path, String key,
			String[] texts) throws Exception {
		Iterator<String> rest = Arrays.asList(texts).iterator();
		MultiItem<String> items = () -> rest.hasNext() ? rest.next()
			: null;

		switch (kind) {
		case "priority":
			try (DistributedPriorityQueue<String> queue =
					builder(null, path).buildPriorityQueue(0)) {
				queue.start();
				queue.putMulti(items, Integer.parseInt(key));
			}
			break;
		case "delay":
			try (DistributedDelayQueue<String> queue =
					builder(null, path).buildDelayQueue()) {
				queue.start();
				queue.putMulti(items, Long.parseLong(key));
			}
			break;
		default:
			try (DistributedQueue<String> queue =
					builder(null, path).buildQueue()) {
				queue.start();
				queue.putMulti(items);
			}
		}
	}

	private String remove(String path, String id, boolean locked)
			throws Exception {
		QueueBuilder<String> how = builder(null, path);

		if (locked)
			how.lockPath(path + "-locks");
		try (DistributedIdQueue<String> queue = how.buildIdQueue()) {
			queue.start();
			return "removed " + queue.remove(id);
		}
	}

	/* Each put waits while the queue has "max" items.  The queue object is
	   kept, because a new one puts its first item before it knows how many
	   there are. */
	private void pour(String path, int max, int from, int to)
			throws Exception {
		DistributedQueue<String> queue = bounded.get(path);

		if (queue == null) {
			queue = builder(null, path).maxItems(max).buildQueue();
			queue.start();
			bounded.put(path, queue);
		}
		for (int i = from; i < to; i++)
			queue.put(Integer.toString(i));
	}

	/* Returns one that "take" asks from now on; the caller has it called. */
	Taker newTaker(String path) {
		Taker taker = new Taker();

		takers.put(path, taker);
		return taker;
	}

	private Taker taker(String kind, String path) throws Exception {
		Taker taker = takers.get(path);

		if (taker != null)
			return taker;
		taker = newTaker(path);
		switch (kind) {
		case "priority":
			builder(taker, path).buildPriorityQueue(0).start();
			break;
		case "delay":
			builder(taker, path).buildDelayQueue().start();
			break;
		case "id":
			builder(taker, path).buildIdQueue().start();
			break;
		default:
			builder(taker, path).buildQueue().start();
		}
		return taker;
	}

	private String take(String kind, String path, long ms)
			throws Exception {
		String text = null;

		if (kind.equals("simple")) {
			byte[] data = new SimpleDistributedQueue(client, path)
				.poll(ms, TimeUnit.MILLISECONDS);

			if (data != null)
				text = new String(data, StandardCharsets.UTF_8);
		} else {
			text = taker(kind, path).items.poll(ms,
				TimeUnit.MILLISECONDS);
		}
		return text != null ? "took " + text : "took";
	}

	/* Returns null for a command of another kind. */
	String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "put":
			put(w[1], w[2], w[3], w.length > 4 ? w[4] : null);
			return "ok";
		case "bundle":
			bundle(w[1], w[2], w[3],
				Arrays.copyOfRange(w, 4, w.length));
			return "ok";
		case "remove":
			return remove(w[1], w[2], w.length > 3);
		case "pour":
			pour(w[1], Integer.parseInt(w[2]),
				Integer.parseInt(w[3]), Integer.parseInt(w[4]));
			return "ok";
		case "take":
			return take(w[1], w[2], Long.parseLong(w[3]));
		case "size":
			return "size " + client.checkExists().forPath(w[2])
				.getNumChildren();
		default:
			return null;
		}
	}
}
