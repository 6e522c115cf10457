import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A small service that renders a page for each request, and keeps LEAK bytes of each. */
final class Links {
  private static final int LEAK = number("LEAK");
  private static final List<byte[]> kept = new ArrayList<>();

  public static void main(String[] arguments) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", number("PORT")), 0);
    server.createContext("/", exchange -> {
      if (LEAK > 0) kept.add(new byte[LEAK]);
      byte[] page = page().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, page.length);
      exchange.getResponseBody().write(page);
      exchange.close();
    });
    server.start();
  }

  private static String page() {
    StringBuilder rows = new StringBuilder("<html><ul>");
    for (int at = 0; at < 200; at++) {
      rows.append("<li><a href=\"/").append(at).append("\">https://example.org/").append(at).append("/")
          .append("x".repeat(60)).append("</a>");
    }
    return rows.append("</ul></html>").toString();
  }

  private static int number(String name) {
    String value = System.getenv(name);
    return value == null ? 0 : Integer.parseInt(value);
  }
}
