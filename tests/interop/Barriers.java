/*
 * Barriers.java - the commands of peer.h for barriers; used by Peer.java.
 */
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

final class Barriers {
	private final CuratorFramework client;
	private final Map<String, DistributedDoubleBarrier> steps =
		new HashMap<>();

	Barriers(CuratorFramework client) {
		this.client = client;
	}

	private String pass(String path, long ms) throws Exception {
		return new DistributedBarrier(client, path).waitOnBarrier(ms,
			TimeUnit.MILLISECONDS) ? "passed" : "timeout";
	}

	private String enter(String path, int count, long ms)
			throws Exception {
		DistributedDoubleBarrier step = steps.computeIfAbsent(path,
			p -> new DistributedDoubleBarrier(client, p, count));

		return step.enter(ms, TimeUnit.MILLISECONDS)
			? "entered " + System.nanoTime() : "timeout";
	}

	/* An object is used for one round only.  A late event of an earlier
	   round, delivered by another thread, would make enter() return: any
	   event ends its wait (5.4.0). */
	private String leave(String path, long ms) throws Exception {
		return steps.remove(path).leave(ms, TimeUnit.MILLISECONDS)
			? "left " + System.nanoTime() : "timeout";
	}

	/* Returns null for a command of another kind. */
	String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "close":
			new DistributedBarrier(client, w[1]).setBarrier();
			return "ok";
		case "open":
			new DistributedBarrier(client, w[1]).removeBarrier();
			return "ok";
		case "pass":
			return pass(w[1], Long.parseLong(w[2]));
		case "enter":
			return enter(w[1], Integer.parseInt(w[2]),
				Long.parseLong(w[3]));
		case "leave":
			return leave(w[1], Long.parseLong(w[2]));
		default:
			return null;
		}
	}
}
