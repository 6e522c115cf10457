import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sorts and hashes strings for several rounds, as a service does: produces much garbage and code worth compiling. */
public final class Words {
  public static void main(String[] arguments) throws InterruptedException {
    long sum = 0;
    for (int round = 0; round < 12; round++) {
      List<String> words = new ArrayList<>();
      for (int number = 0; number < 30_000; number++) {
        words.add("word " + (number * 7919L + round) % 30_011);
      }
      Collections.sort(words);
      Map<String, Integer> places = new HashMap<>();
      for (int place = 0; place < words.size(); place++) {
        places.put(words.get(place), place);
      }
      sum += places.size();
    }
    Thread.sleep(600); // Idle at the end, so that there is a level to be measured.
    System.out.println(sum);
  }
}
