package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Whatever becomes of what a leader writes, no round waits for it or fails. */
class PublisherTest {
  private static final String A = "a0000000-0000-4000-8000-000000000001";

  private final Publisher publisher = new Publisher(ClientConfigs.producer(App.configs(A), 1), Log.TOPIC);

  @Test
  void nobodyWaits() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    List<Integer> made = Collections.synchronizedList(new ArrayList<>());
    long before = System.nanoTime();
    for (int n = 0; n < 100; n++) {
      int round = n;
      publisher.publish(() -> {
        made.add(round);
        begun.countDown();
        goOn.await();
        return Collections.emptyList();
      });
      if (n == 0) {
        assertTrue(begun.await(10, TimeUnit.SECONDS));
        before = System.nanoTime();
      }
    }
    assertTrue(System.nanoTime() - before < 1_000_000_000L, "rounds waited for their records to be written");
    goOn.countDown();
    until(() -> made.size() == 2);
    assertEquals(Arrays.asList(0, 99), made, "only the newest one waits");
  }

  @Test
  void failures() throws Exception {
    publisher.publish(() -> {
      throw new IllegalStateException("no record could be made");
    });
    until(() -> publisher.error != null && publisher.error.contains("no record could be made"));
    publisher.publish(() -> Collections.singletonList(new Publisher.Entry("status/" + A, new byte[] {1}))); // nobody listens
    until(() -> publisher.error != null && publisher.error.contains("not present in metadata after"));
    assertTrue(publisher.error.contains("topic \"" + Log.TOPIC + "\" cannot be written"), publisher.error);
    publisher.publish(Collections::emptyList);
    until(() -> publisher.error == null);
  }

  private interface Condition {
    boolean holds();
  }

  private static void until(Condition c) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!c.holds()) {
      assertTrue(System.nanoTime() < end, "not within 20 s");
      Thread.sleep(10);
    }
  }
}
