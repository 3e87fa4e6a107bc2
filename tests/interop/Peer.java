/*
 * Peer.java - a process that locks with Curator, controlled as peer.h says.
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.leader.Participant;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.KeeperException;

public final class Peer {
	private final CuratorFramework client;
	private final Map<String, InterProcessMutex> mutexes = new HashMap<>();
	private final Map<String, InterProcessReadWriteLock> rwLocks =
		new HashMap<>();
	private final Map<String, InterProcessSemaphoreMutex> soles =
		new HashMap<>();
	private final Map<String, InterProcessLock> others = new HashMap<>();
	private final Map<String, LeaderLatch> latches = new HashMap<>();
	private final Map<String, Chief> chiefs = new HashMap<>();
	private final Map<String, Semaphore> revocations = new HashMap<>();

	private final Leases leases;
	private final Barriers barriers;
	private final Queues queues;
	private final Shards shards;
	private final Workers workers;

	private Peer(CuratorFramework client) {
		this.client = client;
		this.leases = new Leases(client);
		this.barriers = new Barriers(client);
		this.queues = new Queues(client);
		this.shards = new Shards(client, queues);
		this.workers = new Workers(client);
	}

	private InterProcessMutex mutex(String path) {
		return mutexes.computeIfAbsent(path,
			p -> new InterProcessMutex(client, p));
	}

	/* The mutex; a side of the read/write lock; a semaphore's mutex; the
	   single node; or several mutexes together. */
	private InterProcessLock lock(String path, String side) {
		if (side == null)
			return mutex(path);
		if (side.equals("sole"))
			return soles.computeIfAbsent(path, p ->
				new InterProcessSemaphoreMutex(client, p));
		if (side.equals("bare"))
			return others.computeIfAbsent(path, p ->
				new Bare(client, p));
		if (side.equals("all"))
			return others.computeIfAbsent(path, p ->
				new InterProcessMultiLock(client,
					Arrays.asList(p.split(","))));
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

	/* A selector.  While it leads, it stays until it is interrupted; or it
	   uses a counter once in each term, for so many terms. */
	private final class Chief extends LeaderSelectorListenerAdapter {
		final LeaderSelector selector;
		final StringBuilder spans = new StringBuilder();
		final CountDownLatch turns;
		final CountDownLatch leads = new CountDownLatch(1);
		final CountDownLatch ended = new CountDownLatch(1);
		private final String counter;

		Chief(String path, String id, int turns, String counter) {
			this.turns = new CountDownLatch(turns);
			this.counter = counter;
			selector = new LeaderSelector(client, path, this);
			selector.setId(id);
			if (counter != null)
				selector.autoRequeue();
		}

		@Override
		public void takeLeadership(CuratorFramework unused)
				throws Exception {
			long from = System.nanoTime();

			leads.countDown();
			try {
				if (counter == null)
					Thread.sleep(Long.MAX_VALUE);
				else if (turns.getCount() > 0)
					use(counter, false);
			} finally {
				ended.countDown();
			}
			if (turns.getCount() > 0)
				spans.append(from).append(' ')
					.append(System.nanoTime()).append('\n');
			turns.countDown();
		}
	}

	private String elect(String path, String id, String how)
			throws Exception {
		if (how.equals("select")) {
			Chief chief = new Chief(path, id, 0, null);

			chiefs.put(path, chief);
			chief.selector.start();
			return "ok";
		}
		LeaderLatch latch = new LeaderLatch(client, path, id);
		latches.put(path, latch);
		latch.start();
		return "ok";
	}

	private String leads(String path, long ms) throws Exception {
		Chief chief = chiefs.get(path);
		LeaderLatch latch = latches.get(path);
		boolean leads = chief != null
			? chief.leads.await(ms, TimeUnit.MILLISECONDS)
			: ms == 0 ? latch.hasLeadership()
			: latch.await(ms, TimeUnit.MILLISECONDS);

		return leads ? "leads " + System.nanoTime() : "no";
	}

	private String resign(String path) throws Exception {
		Chief chief = chiefs.remove(path);

		if (chief == null) {
			latches.remove(path).close();
			return "resigned";
		}
		chief.selector.close();
		if (chief.leads.getCount() == 0)
			chief.ended.await();
		return "resigned";
	}

	private static String tell(Collection<Participant> all, Participant first) {
		StringBuilder reply = new StringBuilder();

		reply.append(all.size()).append(' ').append(first.getId());
		for (Participant one : all)
			reply.append(' ').append(one.getId());
		return reply.toString();
	}

	/* Each recipe recognizes only its own nodes, so their names decide
	   which one to ask. */
	private String candidates(String path) throws Exception {
		boolean ofLatches = client.getChildren().forPath(path).stream()
			.anyMatch(name -> name.contains("-latch-"));

		if (ofLatches) {
			LeaderLatch latch = new LeaderLatch(client, path);
			return tell(latch.getParticipants(), latch.getLeader());
		}
		LeaderSelector selector = new Chief(path, "", 0, null).selector;
		return tell(selector.getParticipants(), selector.getLeader());
	}

	private String reign(String path, int n, String counter, String file)
			throws Exception {
		Chief chief = new Chief(path, "", n, counter);

		chief.selector.start();
		chief.turns.await();
		chief.selector.close();
		Files.write(Paths.get(file),
			chief.spans.toString().getBytes(StandardCharsets.UTF_8));
		return "counted " + n;
	}

	private void use(String counter, boolean onlyRead) throws Exception {
		long old = Long.parseLong(read(counter));

		if (!onlyRead)
			client.setData().forPath(counter,
				Long.toString(old + 1)
				.getBytes(StandardCharsets.UTF_8));
	}

	/* The side of turn number i, if "percent" of a hundred turns read. */
	private static String side(int i, String percent) {
		if (percent == null || !Character.isDigit(percent.charAt(0)))
			return percent;
		return i * 37 % 100 < Integer.parseInt(percent) ? "read"
			: "write";
	}

	/* With negative ms it does not acquire the lock at all. */
	private String count(String path, int n, String counter, String file,
			long ms, String percent) throws Exception {
		StringBuilder spans = new StringBuilder();
		int done = 0;

		for (int i = 0; i < n; i++) {
			String side = side(i, percent);
			InterProcessLock lock = lock(path, side);

			if (ms >= 0 && !lock.acquire(ms, TimeUnit.MILLISECONDS))
				continue;
			long from = System.nanoTime();
			use(counter, "read".equals(side));
			long to = System.nanoTime();
			if (ms >= 0)
				lock.release();
			if ("bare".equals(side))
				Thread.sleep(2);
			spans.append(from).append(' ').append(to)
				.append("read".equals(side) ? " r\n" : "\n");
			done++;
		}
		Files.write(Paths.get(file),
			spans.toString().getBytes(StandardCharsets.UTF_8));
		return "counted " + done;
	}

	/* An argument that may be missing. */
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
			return elect(w[1], w[2], w[3]);
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
		case "reign":
			return reign(w[1], Integer.parseInt(w[2]), w[3], w[4]);
		default:
			String said = barriers.obey(w);
			if (said == null)
				said = workers.obey(w);
			if (said == null)
				said = queues.obey(w);
			if (said == null)
				said = shards.obey(w);
			return said != null ? said : leases.obey(w);
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
