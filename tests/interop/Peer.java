/*
 * Peer.java - a process that locks with Curator, as peer.h says.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;

public final class Peer {
	private final CuratorFramework client;
	private final Map<String, InterProcessMutex> mutexes = new HashMap<>();
	private final Map<String, InterProcessReadWriteLock> rwLocks =
		new HashMap<>();
	private final Map<String, LeaderLatch> latches = new HashMap<>();
	private final Map<String, Semaphore> revocations = new HashMap<>();

	private Peer(CuratorFramework client) {
		this.client = client;
	}

	private InterProcessMutex mutex(String path) {
		return mutexes.computeIfAbsent(path,
			p -> new InterProcessMutex(client, p));
	}

	/* The mutex, or a side of the read/write lock. */
	private InterProcessMutex lock(String path, String side) {
		if (side == null)
			return mutex(path);
		InterProcessReadWriteLock rw = rwLocks.computeIfAbsent(path,
			p -> new InterProcessReadWriteLock(client, p));
		return side.equals("read") ? rw.readLock() : rw.writeLock();
	}

	private String acquire(String path, long ms, String side)
			throws Exception {
		if (!lock(path, side).acquire(ms, TimeUnit.MILLISECONDS))
			return "timeout";
		return "acquired " + System.nanoTime();
	}

	private String release(String path, String side) throws Exception {
		lock(path, side).release();
		return "released";
	}

	private String revocable(String path) {
		Semaphore asked = new Semaphore(0);

		revocations.put(path, asked);
		mutex(path).makeRevocable(m -> asked.release());
		return "ok";
	}

	private String revoked(String path, long ms) throws Exception {
		return revocations.get(path).tryAcquire(ms,
			TimeUnit.MILLISECONDS) ? "revoked" : "no";
	}

	private String revoke(String node) throws Exception {
		Revoker.attemptRevoke(client, node);
		return "ok";
	}

	private String read(String node) throws Exception {
		try {
			return new String(client.getData().forPath(node),
				StandardCharsets.UTF_8);
		} catch (KeeperException.NoNodeException e) {
			return "gone";
		}
	}

	private String participants(String path) throws Exception {
		Collection<String> nodes = mutex(path).getParticipantNodes();
		StringBuilder reply = new StringBuilder();

		reply.append(nodes.size());
		for (String node : nodes)
			reply.append(' ').append(node).append('=')
				.append(read(node));
		return reply.toString();
	}

	private String elect(String path, String id) throws Exception {
		LeaderLatch latch = new LeaderLatch(client, path, id);

		latches.put(path, latch);
		latch.start();
		return "ok";
	}

	private String leads(String path, long ms) throws Exception {
		LeaderLatch latch = latches.get(path);
		boolean leads = ms == 0 ? latch.hasLeadership()
			: latch.await(ms, TimeUnit.MILLISECONDS);

		return leads ? "leads " + System.nanoTime() : "no";
	}

	private String resign(String path) throws Exception {
		latches.remove(path).close();
		return "resigned";
	}

	private String candidates(String path) throws Exception {
		LeaderLatch latch = latches.getOrDefault(path,
			new LeaderLatch(client, path));
		Collection<Participant> all = latch.getParticipants();
		StringBuilder reply = new StringBuilder();

		reply.append(all.size()).append(' ')
			.append(latch.getLeader().getId());
		for (Participant one : all)
			reply.append(' ').append(one.getId());
		return reply.toString();
	}

	private void use(String counter, boolean onlyRead) throws Exception {
		long old = Long.parseLong(read(counter));

		if (!onlyRead)
			client.setData().forPath(counter,
				Long.toString(old + 1)
				.getBytes(StandardCharsets.UTF_8));
	}

	/* The side of turn number i, if so many of a hundred read. */
	private static String side(int i, String percent) {
		if (percent == null)
			return null;
		return i * 37 % 100 < Integer.parseInt(percent) ? "read"
			: "write";
	}

	/* Patience below 0 is that of one who does not ask. */
	private String count(String path, int n, String counter, String file,
			long ms, String percent) throws Exception {
		StringBuilder spans = new StringBuilder();
		int done = 0;

		for (int i = 0; i < n; i++) {
			String side = side(i, percent);
			InterProcessMutex lock = lock(path, side);

			if (ms >= 0 && !lock.acquire(ms, TimeUnit.MILLISECONDS))
				continue;
			long from = System.nanoTime();
			use(counter, "read".equals(side));
			long to = System.nanoTime();
			if (ms >= 0)
				lock.release();
			spans.append(from).append(' ').append(to)
				.append("read".equals(side) ? " r\n" : "\n");
			done++;
		}
		Files.write(Paths.get(file),
			spans.toString().getBytes(StandardCharsets.UTF_8));
		return "counted " + done;
	}

	/* One that may be missing. */
	private static String word(String[] w, int i) {
		return i < w.length ? w[i] : null;
	}

	private String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "acquire":
			return acquire(w[1], Long.parseLong(w[2]), word(w, 3));
		case "release":
			return release(w[1], word(w, 2));
		case "revocable":
			return revocable(w[1]);
		case "revoked":
			return revoked(w[1], Long.parseLong(w[2]));
		case "revoke":
			return revoke(w[1]);
		case "elect":
			return elect(w[1], w[2]);
		case "leads":
			return leads(w[1], Long.parseLong(w[2]));
		case "resign":
			return resign(w[1]);
		case "candidates":
			return candidates(w[1]);
		case "participants":
			return participants(w[1]);
		case "count":
			return count(w[1], Integer.parseInt(w[2]), w[3], w[4],
				Long.parseLong(w[5]), word(w, 6));
		default:
			return "error what is " + w[0];
		}
	}

	private String answer(String line) {
		try {
			return obey(line.split(" "));
		} catch (Exception e) {
			return "error " + e;
		}
	}

	public static void main(String[] args) throws Exception {
		int sessionMs = Integer.parseInt(args[1]);
		CuratorFramework client = CuratorFrameworkFactory.newClient(
			args[0], sessionMs, sessionMs,
			new ExponentialBackoffRetry(100, 29));
		BufferedReader in = new BufferedReader(new InputStreamReader(
			System.in, StandardCharsets.UTF_8));
		String line;

		client.start();
		client.blockUntilConnected();
		Peer peer = new Peer(client);
		System.out.printf("ready %x%n", client.getZookeeperClient()
			.getZooKeeper().getSessionId());
		while ((line = in.readLine()) != null && !line.equals("exit"))
			System.out.println(peer.answer(line));
		client.close();
	}
}
