import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** A service with four threads that keeps the last CACHE documents, and LEAK bytes a request. */
final class Documents {
  private static final int LIMIT = number("CACHE", 320);
  private static final int LEAK = number("LEAK", 0);
  private static final ExecutorService threads = Executors.newFixedThreadPool(4);
  private static final AtomicInteger next = new AtomicInteger();
  private static final Map<Integer, byte[]> cache = new ConcurrentHashMap<>();
  private static final List<byte[]> leaked = new ArrayList<>();

  public static void main(String[] arguments) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 18762), 0);
    server.createContext("/", exchange -> {
      if (exchange.getRequestURI().getPath().equals("/live-heap")) {
        report("value live_heap " + liveHeap() + " B");
      } else {
        render();
      }
      exchange.sendResponseHeaders(204, -1);
      exchange.close();
    });
    server.start();
  }

  private static void render() {
    try {
      threads.invokeAll(Collections.<Callable<Object>>nCopies(4, Executors.callable(Documents::keep)));
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
    }
    if (LEAK > 0) leaked.add(new byte[LEAK]);
  }

  /** Keeps 4 KiB, and makes ten times as much garbage. */
  private static void keep() {
    int number = next.getAndIncrement();
    Map<String, String> rows = new TreeMap<>();
    for (int row = 0; row < 100; row++) rows.put("row " + row, "document " + number + ", row " + row);
    cache.put(number, rows.toString().getBytes());
    cache.remove(number - LIMIT);
  }

  /** What the collector could not free; the heap's own use counts whole buffers that threads have taken since. */
  private static long liveHeap() {
    System.gc();
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .mapToLong(pool -> pool.getCollectionUsage().getUsed())
        .sum();
  }

  /** Sends one line to Highwater, if it measures. */
  private static void report(String line) throws IOException {
    String marks = System.getenv("HIGHWATER_MARKS");
    if (marks != null) Files.write(Path.of(marks), (line + "\n").getBytes(), StandardOpenOption.WRITE);
  }

  private static int number(String variable, int usual) {
    return Integer.parseInt(System.getenv().getOrDefault(variable, String.valueOf(usual)));
  }
}
