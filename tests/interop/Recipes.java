/*
 * Recipes.java - a process that uses the recipes that come with ZooKeeper,
 * controlled as peer.h says.
 */
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;
import org.apache.zookeeper.recipes.queue.DistributedQueue;

public final class Recipes {
	private final ZooKeeper zk;
	private final Map<String, WriteLock> locks = new HashMap<>();

	private Recipes(ZooKeeper zk) {
		this.zk = zk;
	}

	private DistributedQueue queue(String path) {
		return new DistributedQueue(zk, path, null);
	}

	/* The bytes of "0x" and hexadecimal digits, of "null", or of a text. */
	private static byte[] bytes(String kind, String text) {
		ByteArrayOutputStream out = new ByteArrayOutputStream();

		if (!kind.equals("bytes"))
			return text.getBytes(StandardCharsets.UTF_8);
		if (text.equals("null"))
			return null;
		for (int i = 2; i < text.length(); i += 2)
			out.write(Integer.parseInt(text.substring(i, i + 2), 16));
		return out.toByteArray();
	}

	private static String text(String kind, byte[] bytes) {
		StringBuilder out = new StringBuilder("0x");

		if (!kind.equals("bytes"))
			return new String(bytes, StandardCharsets.UTF_8);
		for (byte b : bytes)
			out.append(String.format("%02x", b));
		return out.toString();
	}

	private static String say(String word, String kind, byte[] bytes) {
		return bytes != null ? word + " " + text(kind, bytes) : word;
	}

	/* To wait, it knows only a call without a deadline. */
	private String take(String kind, String path, long ms)
			throws Exception {
		return say("took", kind,
			ms == 0 ? queue(path).poll() : queue(path).take());
	}

	private String supply(String path, int from, int to) throws Exception {
		DistributedQueue queue = queue(path);

		for (int i = from; i < to; i++)
			queue.offer(bytes("simple", Integer.toString(i)));
		return "supplied " + (to - from);
	}

	private String fetch(String path, int max) throws Exception {
		DistributedQueue queue = queue(path);
		StringBuilder items = new StringBuilder();
		int count = 0;

		for (byte[] item; count < max; count++) {
			item = queue.poll();
			if (item == null)
				break;
			items.append(' ').append(text("simple", item));
		}
		return "fetched " + count + items;
	}

	private String acquire(String path, long ms) throws Exception {
		CountDownLatch held = new CountDownLatch(1);
		WriteLock lock = new WriteLock(zk, path, null,
			new LockListener() {
				@Override
				public void lockAcquired() {
					held.countDown();
				}

				@Override
				public void lockReleased() {
				}
			});

		lock.lock();
		if (!held.await(ms, TimeUnit.MILLISECONDS)) {
			lock.unlock();
			lock.close(); /* or it comes back by its watch */
			return "timeout";
		}
		locks.put(path, lock);
		return "acquired " + System.nanoTime();
	}

	private String obey(String[] w) throws Exception {
		switch (w[0]) {
		case "put":
			queue(w[2]).offer(bytes(w[1], w[3]));
			return "ok";
		case "take":
			return take(w[1], w[2], Long.parseLong(w[3]));
		case "look":
			return say("saw", w[1], queue(w[2]).peek());
		case "supply":
			return supply(w[2], Integer.parseInt(w[3]),
				Integer.parseInt(w[4]));
		case "fetch":
			return fetch(w[2], Integer.parseInt(w[3]));
		case "acquire":
			return acquire(w[1], Long.parseLong(w[2]));
		case "release":
			locks.remove(w[1]).unlock();
			return "released";
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
		CountDownLatch connected = new CountDownLatch(1);
		ZooKeeper zk = new ZooKeeper(args[0], Integer.parseInt(args[1]),
			event -> {
				if (event.getState() == KeeperState.SyncConnected)
					connected.countDown();
			});
		BufferedReader in = new BufferedReader(new InputStreamReader(
			System.in, StandardCharsets.UTF_8));
		String line;

		connected.await();
		Recipes recipes = new Recipes(zk);
		System.out.printf("ready %x%n", zk.getSessionId());
		while ((line = in.readLine()) != null && !line.equals("exit"))
			System.out.println(recipes.answer(line));
		zk.close();
	}
}
