package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever becomes of what a leader writes, no round waits for it or fails. */
class PublisherTest {
  private static final String A = "a0000000-0000-4000-8000-000000000001";

  private final Publisher publisher = new Publisher(KafkaProducer::new, Log.TOPIC, Duration.ofMillis(200));

  @BeforeEach
  void settings() {
    publisher.use(ClientConfigs.producer(App.configs(A), 1));
  }

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

  /** Producers without a broker. */
  private static final class Producers {
    final AtomicInteger opened = new AtomicInteger();
    final AtomicInteger closed = new AtomicInteger();
    final AtomicInteger sent = new AtomicInteger();
    volatile RuntimeException failing;

    @SuppressWarnings("unchecked")
    Producer<byte[], byte[]> open(Map<String, Object> configs) {
      opened.incrementAndGet();
      return (Producer<byte[], byte[]>) Proxy.newProxyInstance(Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, args) -> {
        if (method.getName().equals("close")) {
          closed.incrementAndGet();
        } else if (failing != null) {
          throw failing;
        } else {
          sent.incrementAndGet();
        }
        return method.getName().equals("send") ? CompletableFuture.completedFuture(null) : null;
      });
    }
  }

  private static void write(Publisher p, Producers made) throws Exception {
    int before = made.sent.get();
    p.publish(() -> Collections.singletonList(new Publisher.Entry("status/" + A, new byte[] {1})));
    until(() -> made.sent.get() > before && p.error == null);
  }

  /** Rounds that follow one another write through one producer, which tells the log of all its settings when it is made. */
  @Test
  void oneProducer() throws Exception {
    Producers made = new Producers();
    Publisher p = new Publisher(made::open, Log.TOPIC, Duration.ofSeconds(60));
    Map<String, Object> configs = App.configs(A);
    p.use(ClientConfigs.producer(configs, 1));
    write(p, made);
    configs.put("client.id", "app-a-StreamThread-2-consumer");
    p.use(ClientConfigs.producer(configs, 1));
    write(p, made);
    assertEquals(1, made.opened.get());
    configs.put("sasl.jaas.config", "new");
    p.use(ClientConfigs.producer(configs, 1));
    write(p, made);
    assertEquals(2, made.opened.get());
    assertEquals(1, made.closed.get());
    made.failing = new IllegalStateException("no more");
    p.publish(() -> Collections.singletonList(new Publisher.Entry("status/" + A, new byte[] {1})));
    until(() -> p.error != null && made.closed.get() == 2);
    made.failing = null;
    write(p, made);
    assertEquals(3, made.opened.get());
    p.rest();
    until(() -> made.closed.get() == 3);
  }

  /** Nothing is left of it when the app has ended. */
  @Test
  void idle() throws Exception {
    Producers made = new Producers();
    Publisher p = new Publisher(made::open, Log.TOPIC, Duration.ofMillis(20));
    write(p, made);
    until(() -> made.closed.get() == made.opened.get());
    p.rest();
    write(p, made);
    until(() -> made.closed.get() == made.opened.get());
  }

  /** Where no broker is found, the first record tells; a thousand do not wait one after another. */
  @Test
  void oneTry() throws Exception {
    AtomicInteger tried = new AtomicInteger();
    Publisher p = new Publisher(c -> refusing(tried), Log.TOPIC, Duration.ofSeconds(5));
    p.publish(() -> Collections.nCopies(1000, new Publisher.Entry("status/" + A, null)));
    until(() -> p.error != null && p.error.contains("no broker"));
    assertEquals(1, tried.get());
  }

  @SuppressWarnings("unchecked")
  private static Producer<byte[], byte[]> refusing(AtomicInteger tried) {
    return (Producer<byte[], byte[]>) Proxy.newProxyInstance(Producer.class.getClassLoader(), new Class<?>[] {Producer.class}, (self, method, args) -> {
      if (!method.getName().equals("send")) {
        return null;
      }
      tried.incrementAndGet();
      return CompletableFuture.failedFuture(new TimeoutException("no broker"));
    });
  }

  /** A login module that is not on the class path ends no thread of the app with an error. */
  @Test
  void linkage() throws Exception {
    Publisher p = new Publisher(c -> {
      throw new NoClassDefFoundError("some/LoginModule");
    }, Log.TOPIC, Duration.ofSeconds(5));
    p.publish(Collections::emptyList);
    until(() -> p.error != null && p.error.contains("some/LoginModule"));
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
