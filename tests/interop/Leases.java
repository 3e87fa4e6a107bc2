/*
 * Leases.java - the commands of peer.h for semaphores; used by Peer.java.
 */
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.shared.SharedCount;

final class Leases {
	private static final int HELD_MS = 2;

	private final CuratorFramework client;
	private final Map<String, InterProcessSemaphoreV2> semaphores =
		new HashMap<>();
	private final Map<String, SharedCount> counts = new HashMap<>();
	private final Map<String, List<Lease>> held = new HashMap<>();

	Leases(CuratorFramework client) {
		this.client = client;
	}

	/* The node with the number exists already. */
	private SharedCount count(String path) throws Exception {
		SharedCount count = counts.get(path);

		if (count == null) {
			count = new SharedCount(client, path, 0);
			count.start();
			counts.put(path, count);
		}
		return count;
	}

	/* "max" is a number, or the path of the node that has it. */
	private InterProcessSemaphoreV2 semaphore(String path, String max)
			throws Exception {
		InterProcessSemaphoreV2 one = semaphores.get(path);

		if (one == null) {
			one = max.startsWith("/")
				? new InterProcessSemaphoreV2(client, path,
					count(max))
				: new InterProcessSemaphoreV2(client, path,
					Integer.parseInt(max));
			semaphores.put(path, one);
		}
		return one;
	}

	private String lease(String path, String max, int count, long ms)
			throws Exception {
		Collection<Lease> got = semaphore(path, max).acquire(count, ms,
			TimeUnit.MILLISECONDS);

		if (got == null)
			return "timeout";
		held.computeIfAbsent(path, p -> new ArrayList<>()).addAll(got);
		return "leased " + System.nanoTime();
	}

	private String giveBack(String path) {
		semaphores.get(path).returnAll(held.remove(path));
		return "returned";
	}

	private String resize(String max, int n) throws Exception {
		count(max).setCount(n);
		return "resized";
	}

	private String holders(String path, String max) throws Exception {
		Collection<String> nodes = semaphore(path, max)
			.getParticipantNodes();

		return nodes.size() + " " + String.join(" ", nodes);
	}

	private String draw(String path, String max, int most, int n,
			String file, long ms) throws Exception {
		InterProcessSemaphoreV2 semaphore = semaphore(path, max);
		StringBuilder spans = new StringBuilder();
		int done = 0;

		for (int i = 0; i < n; i++) {
			int count = 1 + i % most;
			Collection<Lease> got = semaphore.acquire(count, ms,
				TimeUnit.MILLISECONDS);

			if (got == null)
				continue;
			long from = System.nanoTime();
			Thread.sleep(HELD_MS);
			long to = System.nanoTime();
			semaphore.returnAll(got);
			spans.append(from).append(' ').append(to)
				.append(" x").append(count).append('\n');
			done++;
		}
		Files.write(Paths.get(file),
			spans.toString().getBytes(StandardCharsets.UTF_8));
		return "counted " + done;
	}

	String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "lease":
			return lease(w[1], w[2], Integer.parseInt(w[3]),
				Long.parseLong(w[4]));
		case "return":
			return giveBack(w[1]);
		case "resize":
			return resize(w[2], Integer.parseInt(w[3]));
		case "holders":
			return holders(w[1], w[2]);
		case "draw":
			return draw(w[1], w[2], Integer.parseInt(w[3]),
				Integer.parseInt(w[4]), w[5],
				Long.parseLong(w[6]));
		default:
			return "error what is " + w[0];
		}
	}
}
