/*
 * CuratorTogether.java - Curator's DistributedBarrier, DistributedDoubleBarrier and
 * LeaderSelector under bench/compare, with the styles of bench_together.c: "gate",
 * "step" and "select".
 */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.retry.ExponentialBackoffRetry;

public final class CuratorTogether {
	private static final int SESSION_MS = 30000;
	private static final int PATIENCE_MS = 30000;
	private static final int AT_ONCE = 10;

	private final String hosts;
	private final String path;
	private final List<CuratorFramework> clients = new ArrayList<>();
	private final AtomicLong ops = new AtomicLong();
	private volatile Exception failure;

	private CuratorTogether(String hosts, String path) {
		this.hosts = hosts;
		this.path = path;
	}

	private void open() throws InterruptedException {
		CuratorFramework client = CuratorFrameworkFactory.newClient(
			hosts, SESSION_MS, SESSION_MS,
			new ExponentialBackoffRetry(100, 29));

		clients.add(client);
		client.start();
		if (!client.blockUntilConnected(PATIENCE_MS,
				TimeUnit.MILLISECONDS))
			throw new IllegalStateException("no connection");
	}

	private void gate(long until) throws Exception {
		DistributedBarrier barrier =
			new DistributedBarrier(clients.get(0), path);

		for (; System.nanoTime() < until; ops.incrementAndGet()) {
			barrier.setBarrier();
			if (barrier.waitOnBarrier(0, TimeUnit.MILLISECONDS))
				throw new IllegalStateException("it is open");
			barrier.removeBarrier();
			if (!barrier.waitOnBarrier(PATIENCE_MS,
					TimeUnit.MILLISECONDS))
				throw new IllegalStateException("it is shut");
		}
	}

	/*
	 * A barrier for each round: one cannot be used again at once.  None leaves
	 * before all are in: a member that is still entering would hang.
	 */
	private void stepOn(CuratorFramework client, long first,
			CyclicBarrier allIn) {
		try {
			for (int i = 0; i < AT_ONCE; i++) {
				DistributedDoubleBarrier barrier =
					new DistributedDoubleBarrier(client,
						path + "/" + (first + i),
						clients.size());
				if (!barrier.enter(PATIENCE_MS,
						TimeUnit.MILLISECONDS))
					throw new IllegalStateException(
						"entering takes too long");
				allIn.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
				if (!barrier.leave(PATIENCE_MS,
						TimeUnit.MILLISECONDS))
					throw new IllegalStateException(
						"leaving takes too long");
			}
		} catch (Exception e) {
			failure = e;
		}
	}

	private void step(long until) throws Exception {
		CyclicBarrier allIn = new CyclicBarrier(clients.size());

		while (System.nanoTime() < until && failure == null) {
			List<Thread> threads = new ArrayList<>();
			long first = ops.get();

			for (CuratorFramework client : clients) {
				Thread thread = new Thread(
					() -> stepOn(client, first, allIn));
				thread.setDaemon(true);
				thread.start();
				threads.add(thread);
			}
			for (Thread thread : threads)
				thread.join();
			ops.addAndGet(AT_ONCE);
		}
	}

	private void select(int ms) throws Exception {
		try (LeaderSelector selector = new LeaderSelector(
				clients.get(0), path,
				new LeaderSelectorListenerAdapter() {
					public void takeLeadership(
							CuratorFramework c) {
						ops.incrementAndGet();
					}
				})) {
			selector.autoRequeue();
			selector.start();
			Thread.sleep(ms);
		}
	}

	private String run(String style, int workers, int ms) throws Exception {
		try {
			for (int i = 0; i < workers; i++)
				open();
			long begin = System.nanoTime();
			long until = begin + ms * 1000000L;

			if (style.equals("gate"))
				gate(until);
			else if (style.equals("step"))
				step(until);
			else if (style.equals("select"))
				select(ms);
			else
				throw new IllegalArgumentException(
					"no such style");
			if (failure != null)
				throw failure;
			return "ops=" + ops + " us=" +
				(System.nanoTime() - begin) / 1000;
		} finally {
			for (CuratorFramework client : clients)
				client.close();
		}
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(
			new InputStreamReader(System.in));
		String question;

		while ((question = in.readLine()) != null) {
			String[] word = question.split(" ");
			String answer;

			try {
				answer = new CuratorTogether(args[0], word[1])
					.run(word[0], Integer.parseInt(word[3]),
						Integer.parseInt(word[5]));
			} catch (Exception e) {
				answer = "error " + e;
			}
			System.out.println(answer);
		}
		System.exit(0); /* whatever threads a client has left */
	}
}
