import java.util.ArrayList;
import java.util.List;

/** Four threads allocate strings and drop most of them: the scheduler decides what the collector finds. */
public final class Threads {
  public static void main(String[] arguments) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int number = 0; number < 4; number++) {
      Thread thread = new Thread(Threads::work);
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void work() {
    List<String> kept = new ArrayList<>();
    for (int turn = 0; turn < 400_000; turn++) {
      String text = "turn " + turn * 7919L;
      if (turn % 16 == 0) {
        kept.add(text);
      }
    }
    System.out.println(kept.size());
  }
}
