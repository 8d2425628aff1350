package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** What an operator reads in the log of an app. */
class TroubleTest {
  private final List<String> lines = new ArrayList<>();
  private final Logger log = (Logger) Proxy.newProxyInstance(Logger.class.getClassLoader(), new Class<?>[] {Logger.class},
      (self, method, args) -> {
        if (!method.getName().equals("debug")) {
          lines.add(method.getName() + " " + args[1]);
        }
        return null;
      });

  /** A round each few seconds does not fill the log. */
  @Test
  void once() {
    Trouble t = new Trouble(log, "over");
    t.is(null);
    for (int i = 0; i < 20; i++) {
      t.is("not read within " + i + " ms");
      t.is("refused");
    }
    t.is(null);
    t.is(null);
    t.is("refused");
    assertEquals(Arrays.asList("warn not read within 0 ms", "warn refused", "info over", "warn refused"), lines);
  }

  /** Texts that differ each time, whatever they are made of, come to an end too. */
  @Test
  void bounded() {
    Trouble t = new Trouble(log, null);
    for (char c = 'a'; c <= 'z'; c++) {
      t.is("refused by " + c);
    }
    t.is(null);
    assertEquals(10, lines.size());
  }

  /** Kafka's exceptions often say only that something failed, and their causes what. */
  @Test
  void causes() {
    KafkaException e = assertThrows(KafkaException.class,
        () -> new KafkaConsumer<>(ClientConfigs.consumer(Map.of("bootstrap.servers", "127.0.0.1:1", "security.protocol", "SASL_PLAINTEXT"))));
    String why = Trouble.why(e);
    assertTrue(why.startsWith("Failed to construct kafka consumer: ") && why.contains("'KafkaClient' entry in the JAAS"), why);
    assertEquals("a: b", Trouble.why(new KafkaException("a", new IllegalStateException("b", new KafkaException("a")))));
    assertEquals("KafkaException", Trouble.why(new KafkaException()));
  }
}
