package io.github.streamctl.streams;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;

/** Settings of our own clients: those of the app's main consumer, so that they reach the same brokers in the same way. */
final class ClientConfigs {
  // What makes the main consumer what it is, and ours not.
  private static final Set<String> NOT_OURS = new HashSet<>(Arrays.asList("group.id", "group.instance.id", "group.protocol",
      "group.remote.assignor", "partition.assignment.strategy", "interceptor.classes", "metric.reporters", "client.rack"));

  private static final long DAY_MS = 86_400_000L;

  private ClientConfigs() {}

  /** Two clients with these settings reach the same brokers in the same way, whichever threads of the app lead. */
  static boolean same(Map<String, Object> a, Map<String, Object> b) {
    return withoutName(a).equals(withoutName(b));
  }

  private static Map<String, Object> withoutName(Map<String, Object> configs) {
    Map<String, Object> out = new HashMap<>(configs);
    out.remove("client.id");
    return out;
  }

  static Map<String, Object> consumer(Map<String, ?> app) {
    Map<String, Object> out = common(app);
    out.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
    out.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
    out.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    out.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    out.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    out.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_uncommitted");
    // What an app sets for much at a time would keep a round waiting for a few records.
    out.put(ConsumerConfig.FETCH_MIN_BYTES_CONFIG, 1);
    out.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 500);
    return out;
  }

  static Map<String, Object> producer(Map<String, ?> app, long timeoutMs) {
    Map<String, Object> out = common(app);
    // Names that both clients have and that mean reading.
    out.keySet().removeIf(k -> ConsumerConfig.configNames().contains(k) && !ProducerConfig.configNames().contains(k));
    int ms = (int) Math.max(timeoutMs, 1_000);
    out.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
    out.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
    out.put(ProducerConfig.ACKS_CONFIG, "all");
    out.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "false"); // WRITE on the topic is enough
    out.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, ms);
    out.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, ms);
    out.put(ProducerConfig.LINGER_MS_CONFIG, 0);
    out.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, ms);
    out.put(ProducerConfig.BUFFER_MEMORY_CONFIG, 4L << 20);
    // Only a write asks for the topic: a broker may make one anew, when it is asked, that somebody deleted.
    out.put(ProducerConfig.METADATA_MAX_AGE_CONFIG, DAY_MS);
    return out;
  }

  private static Map<String, Object> common(Map<String, ?> app) {
    Map<String, Object> out = new HashMap<>();
    Set<String> streams = StreamsConfig.configDef().names();
    app.forEach((key, value) -> {
      boolean client = ConsumerConfig.configNames().contains(key);
      // Others may be for a login module or a callback handler of the app.
      boolean others = !streams.contains(key) && !key.startsWith("topic.") && !key.startsWith("streamctl.") && !key.startsWith("client.tag.");
      if (value != null && !NOT_OURS.contains(key) && !key.startsWith("__") && !key.startsWith("internal.") && (client || others)) {
        out.put(key, value);
      }
    });
    out.put("client.id", app.get("client.id") + "-streamctl");
    out.put("enable.metrics.push", "false"); // to brokers, which would take ours for one more instance of the app
    return out;
  }
}
