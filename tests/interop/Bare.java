/*
 * Bare.java - one ephemeral node that all contenders try to create, as a
 * program would do it with Curator but without a recipe.
 */
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;

final class Bare implements InterProcessLock {
	private final CuratorFramework client;
	private final String path;
	private boolean held;

	Bare(CuratorFramework client, String path) {
		this.client = client;
		this.path = path;
	}

	private boolean make() throws Exception {
		try {
			client.create().withMode(CreateMode.EPHEMERAL)
				.forPath(path);
			held = true;
		} catch (KeeperException.NodeExistsException e) {
			held = false;
		}
		return held;
	}

	@Override
	public boolean acquire(long time, TimeUnit unit) throws Exception {
		long end = System.nanoTime() + unit.toNanos(time);

		while (!make()) {
			CountDownLatch news = new CountDownLatch(1);
			Watcher watcher = event -> news.countDown();

			if (client.checkExists().usingWatcher(watcher)
					.forPath(path) != null
				&& !news.await(end - System.nanoTime(),
					TimeUnit.NANOSECONDS))
				return false;
		}
		return true;
	}

	@Override
	public void acquire() throws Exception {
		acquire(Long.MAX_VALUE / 2, TimeUnit.NANOSECONDS);
	}

	@Override
	public void release() throws Exception {
		held = false;
		client.delete().forPath(path);
	}

	@Override
	public boolean isAcquiredInThisProcess() {
		return held;
	}
}
