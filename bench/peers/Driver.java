/*
 * Driver.java - what Curator's drivers under bench/compare have in common: questions
 * are read, clients opened and closed, and answers written, as driver.h says.
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

abstract class Driver {
	static final int PATIENCE_MS = 30000;
	private static final int SESSION_MS = 30000;

	/* Make a driver for one question. */
	interface Maker {
		Driver make(String hosts, String question);
	}

	/* What a thread does. */
	interface Work {
		void run() throws Exception;
	}

	final String style;
	final String path;
	final int sessionCount;
	final int workerCount;
	final int leadMs;
	final int ms;
	final List<CuratorFramework> clients = new ArrayList<>();
	volatile Exception failure; /* of any thread */
	private final String hosts;

	Driver(String hosts, String question) {
		String[] word = question.split(" ");

		this.hosts = hosts;
		style = word[0];
		path = word[1];
		sessionCount = Integer.parseInt(word[2]);
		workerCount = Integer.parseInt(word[3]);
		leadMs = Integer.parseInt(word[4]);
		ms = Integer.parseInt(word[5]);
	}

	/* Do what is asked, and return the answer. */
	abstract String run() throws Exception;

	/* Clean up, whatever became of run(). */
	void end() throws InterruptedException {
		for (CuratorFramework client : clients)
			client.close();
	}

	/* Open a client that the caller has to close. */
	CuratorFramework connect() throws InterruptedException {
		CuratorFramework client = CuratorFrameworkFactory.newClient(
			hosts, SESSION_MS, SESSION_MS,
			new ExponentialBackoffRetry(100, 29));

		client.start();
		if (client.blockUntilConnected(PATIENCE_MS,
				TimeUnit.MILLISECONDS))
			return client;
		client.close();
		throw new IllegalStateException("no connection");
	}

	/* Open a client that end() closes. */
	CuratorFramework open() throws InterruptedException {
		clients.add(connect());
		return clients.get(clients.size() - 1);
	}

	Thread start(Work work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			} catch (Exception e) {
				failure = e;
			}
		});

		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	static void join(List<Thread> threads) throws InterruptedException {
		for (Thread thread : threads)
			thread.join();
	}

	/* Return what was done in how long.  Throws if anything has failed. */
	String answer(long ops, long ns) throws Exception {
		if (failure != null)
			throw failure;
		return "ops=" + ops + " us=" + ns / 1000;
	}

	static IllegalArgumentException noSuchStyle() {
		return new IllegalArgumentException("no such style");
	}

	private static String answer(Maker maker, String hosts,
			String question) {
		try {
			Driver driver = maker.make(hosts, question);

			try {
				return driver.run();
			} finally {
				driver.end();
			}
		} catch (Exception e) {
			return "error " + e;
		}
	}

	/* Serve questions until their end. */
	static void serve(String[] args, Maker maker) throws IOException {
		BufferedReader in = new BufferedReader(
			new InputStreamReader(System.in));
		String question;

		while ((question = in.readLine()) != null)
			System.out.println(answer(maker, args[0], question));
		System.exit(0); /* whatever threads a client has left */
	}
}
