/*
 * Shards.java - the commands of peer.h for a queue in several shards; used by
 * Peer.java.
 */
import java.util.HashMap;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueSharder;
import org.apache.curator.framework.recipes.queue.QueueSharderPolicies;

final class Shards {
	private final CuratorFramework client;
	private final Queues queues;
	private final Map<String, QueueSharder<String,
		DistributedQueue<String>>> sharders = new HashMap<>();

	Shards(CuratorFramework client, Queues queues) {
		this.client = client;
		this.queues = queues;
	}

	/* There is a second shard soon after the first has a few items. */
	private String shard(String path, boolean takes) throws Exception {
		Queues.Taker taker = takes ? queues.newTaker(path) : null;
		QueueSharder<String, DistributedQueue<String>> sharder =
			new QueueSharder<>(client, (c, shard) ->
				QueueBuilder.builder(c, taker,
					new Queues.Text(), shard)
				.putInBackground(false).buildQueue(),
			path, path + "-leader",
			QueueSharderPolicies.builder().newQueueThreshold(4)
			.thresholdCheckMs(10).maxQueues(2).build());

		sharders.put(path, sharder);
		sharder.start();
		return "ok";
	}

	private String scatter(String path, int from, int to) throws Exception {
		for (int i = from; i < to; i++)
			sharders.get(path).getQueue().put(Integer.toString(i));
		return "ok";
	}

	/* Returns null for a command of another kind. */
	String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "shard":
			return shard(w[1], w.length > 2);
		case "scatter":
			return scatter(w[1], Integer.parseInt(w[2]),
				Integer.parseInt(w[3]));
		case "shards":
			return "shards " + sharders.get(w[1]).getShardQty();
		default:
			return null;
		}
	}
}
