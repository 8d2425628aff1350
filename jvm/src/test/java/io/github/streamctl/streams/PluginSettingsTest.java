package io.github.streamctl.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PluginSettingsTest {
  private static Map<String, Object> with(String name, Object value) {
    Map<String, Object> m = new HashMap<>();
    m.put("application.id", "shop");
    m.put(name, value);
    return m;
  }

  @Test
  void defaults() {
    PluginSettings s = new PluginSettings(with("x", "y"));
    assertEquals(2000, s.factor);
    assertEquals(5000, s.followupMs);
    assertEquals(3000, s.timeoutMs);
    assertEquals("shop-streamctl-control", s.topic);
    assertNull(s.scaleDownMs);
    assertEquals(1250, new PluginSettings(with(PluginSettings.FACTOR, 1.25)).factor);
    assertEquals(1000, new PluginSettings(with(PluginSettings.FACTOR, "1")).factor);
    assertEquals(Long.valueOf(0), new PluginSettings(with(PluginSettings.SCALE_DOWN, 0)).scaleDownMs);
  }

  @ParameterizedTest
  @CsvSource({
      "streamctl.worker.balancing.factor,0.9", "streamctl.worker.balancing.factor,1.2345", "streamctl.worker.balancing.factor,two",
      "streamctl.worker.balancing.factor,NaN", "streamctl.worker.balancing.factor,1e9", "streamctl.followup.interval.ms,99",
      "streamctl.followup.interval.ms,1.5", "streamctl.followup.interval.ms,5s", "streamctl.control.timeout.ms,0",
      "streamctl.control.timeout.ms,60001", "streamctl.control.topic,a b", "streamctl.control.topic,..",
      "streamctl.scale.down.timeout.ms,-1"})
  void refused(String name, String value) {
    LearnerTaskAssignor a = new LearnerTaskAssignor();
    ConfigException e = assertThrows(ConfigException.class, () -> a.configure(with(name, value)));
    assertTrue(e.getMessage().contains(name) && e.getMessage().contains(value), e.getMessage());
  }

  @Test
  void typingErrors() {
    assertEquals(Collections.singletonList("streamctl.followup.intervall.ms"), PluginSettings.unknown(with("streamctl.followup.intervall.ms", 1)));
    assertEquals(Collections.emptyList(), PluginSettings.unknown(with(PluginSettings.TIMEOUT, 1)));
  }

  /** What Streams hands on to the assignor is what our clients need, and ours are not the app's. */
  @Test
  void clients() {
    Map<String, Object> app = with("bootstrap.servers", "b:9092");
    app.put("security.protocol", "SASL_SSL");
    app.put("sasl.jaas.config", "secret");
    app.put("my.login.module.region", "eu");
    app.put("streamctl.control.timeout.ms", "100");
    app.put("main.consumer.max.poll.records", "7");
    app.put("main.consumer.fetch.min.bytes", "1000000");
    app.put("consumer.fetch.max.wait.ms", "20000");
    app.put("interceptor.classes", "of.the.App");
    app.put("main.consumer.interceptor.classes", "of.the.App");
    app.put("metric.reporters", "of.the.App");
    app.put("main.consumer.sasl.login.callback.handler.class", "of.the.Login");
    Map<String, Object> main = new StreamsConfig(app).getMainConsumerConfigs("shop", "shop-1-StreamThread-1-consumer", 1);
    assertEquals(100, new PluginSettings(main).timeoutMs);
    Map<String, Object> consumer = ClientConfigs.consumer(main);
    Map<String, Object> producer = ClientConfigs.producer(main, 100);
    for (Map<String, Object> c : java.util.Arrays.asList(consumer, producer)) {
      assertEquals("b:9092", c.get("bootstrap.servers"));
      assertEquals("SASL_SSL", c.get("security.protocol"));
      assertEquals("secret", c.get("sasl.jaas.config"));
      assertEquals("eu", c.get("my.login.module.region"));
      assertEquals("shop-1-StreamThread-1-consumer-streamctl", c.get("client.id"));
      assertEquals("of.the.Login", c.get("sasl.login.callback.handler.class"));
      assertEquals("false", c.get("enable.metrics.push"));
      for (String not : new String[] {"interceptor.classes", "metric.reporters", "group.id", "group.instance.id", "partition.assignment.strategy", "application.id", "task.assignor.class"}) {
        assertFalse(c.containsKey(not), not);
      }
    }
    assertEquals("false", consumer.get("allow.auto.create.topics"));
    assertEquals(1, consumer.get("fetch.min.bytes"));
    assertEquals(500, consumer.get("fetch.max.wait.ms"));
    assertEquals("all", producer.get("acks"));
    assertFalse(producer.containsKey("fetch.min.bytes"));
  }
}
