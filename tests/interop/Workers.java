/*
 * Workers.java - the commands of peer.h for queue items that are consumed under
 * a lock; used by Peer.java.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedDelayQueue;
import org.apache.curator.framework.recipes.queue.DistributedIdQueue;
import org.apache.curator.framework.recipes.queue.DistributedPriorityQueue;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.ErrorMode;
import org.apache.curator.framework.recipes.queue.QueueBase;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.state.ConnectionState;

final class Workers {
	private final CuratorFramework client;
	private final Map<String, Worker> workers = new HashMap<>();

	Workers(CuratorFramework client) {
		this.client = client;
	}

	/* Consumes items; each takes a while.  It fails with the first ones. */
	private static final class Worker implements QueueConsumer<String> {
		final List<String> items =
			Collections.synchronizedList(new ArrayList<>());
		private final long ms;
		private final int refused;

		Worker(long ms, int refused) {
			this.ms = ms;
			this.refused = refused;
		}

		@Override
		public void consumeMessage(String item) throws Exception {
			items.add(item);
			if (items.size() <= refused)
				throw new Exception("refused");
			Thread.sleep(ms);
		}

		@Override
		public void stateChanged(CuratorFramework c, ConnectionState s) {
		}
	}

	private QueueBase<String> queue(Worker worker, String path,
			String kind) throws Exception {
		QueueBuilder<String> how = QueueBuilder.builder(client, worker,
			new Queues.Text(), path).lockPath(path + "-locks");
		QueueBase<String> queue = kind.equals("priority")
				? how.buildPriorityQueue(0)
			: kind.equals("delay") ? how.buildDelayQueue()
			: kind.equals("id") ? how.buildIdQueue()
			: how.buildQueue();

		queue.setErrorMode(ErrorMode.REQUEUE);
		queue.start();
		return queue;
	}

	private String consume(String path, long ms, String kind, int refused)
			throws Exception {
		workers.put(path, new Worker(ms, refused));
		queue(workers.get(path), path, kind);
		return "ok";
	}

	/* The number is the key, too; Curator does not take 0 for a delay. */
	private static void put(QueueBase<String> queue, int i)
			throws Exception {
		String text = Integer.toString(i);

		if (queue instanceof DistributedPriorityQueue)
			((DistributedPriorityQueue<String>) queue).put(text, i);
		else if (queue instanceof DistributedDelayQueue)
			((DistributedDelayQueue<String>) queue).put(text, i + 1);
		else if (queue instanceof DistributedIdQueue)
			((DistributedIdQueue<String>) queue).put(text, text);
		else
			((DistributedQueue<String>) queue).put(text);
	}

	private String feed(String path, int from, int to, String kind)
			throws Exception {
		try (QueueBase<String> queue = queue(null, path, kind)) {
			for (int i = from; i < to; i++)
				put(queue, i);
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
				Integer.parseInt(w[3]), w[4]);
		case "consume":
			return consume(w[1], Long.parseLong(w[2]), w[3],
				w.length > 4 ? Integer.parseInt(w[4]) : 0);
		case "consumed":
			return consumed(w[1]);
		default:
			return null;
		}
	}
}
