/*
 * CuratorTogether.java - Curator's DistributedBarrier, DistributedDoubleBarrier and
 * LeaderSelector under bench/compare, with the styles of bench_together.c: "gate",
 * "step" and "select".
 */
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;

public final class CuratorTogether extends Driver {
	private static final int AT_ONCE = 10;

	private final AtomicLong ops = new AtomicLong();

	private CuratorTogether(String hosts, String question) {
		super(hosts, question);
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
			CyclicBarrier allIn) throws Exception {
		for (int i = 0; i < AT_ONCE; i++) {
			DistributedDoubleBarrier barrier =
				new DistributedDoubleBarrier(client,
					path + "/" + (first + i),
					clients.size());
			if (!barrier.enter(PATIENCE_MS, TimeUnit.MILLISECONDS))
				throw new IllegalStateException(
					"entering takes too long");
			allIn.await(PATIENCE_MS, TimeUnit.MILLISECONDS);
			if (!barrier.leave(PATIENCE_MS, TimeUnit.MILLISECONDS))
				throw new IllegalStateException(
					"leaving takes too long");
		}
	}

	private void step(long until) throws Exception {
		CyclicBarrier allIn = new CyclicBarrier(clients.size());

		while (System.nanoTime() < until && failure == null) {
			List<Thread> threads = new ArrayList<>();
			long first = ops.get();

			for (CuratorFramework client : clients)
				threads.add(start(
					() -> stepOn(client, first, allIn)));
			join(threads);
			ops.addAndGet(AT_ONCE);
		}
	}

	private void select() throws Exception {
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

	@Override
	String run() throws Exception {
		for (int i = 0; i < workerCount; i++)
			open();
		long begin = System.nanoTime();
		long until = begin + ms * 1000000L;

		if (style.equals("gate"))
			gate(until);
		else if (style.equals("step"))
			step(until);
		else if (style.equals("select"))
			select();
		else
			throw noSuchStyle();
		return answer(ops.get(), System.nanoTime() - begin);
	}

	public static void main(String[] args) throws IOException {
		serve(args, CuratorTogether::new);
	}
}
