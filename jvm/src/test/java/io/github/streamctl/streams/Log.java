package io.github.streamctl.streams;

import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/** A topic of one partition, and consumers of it that do as much as reading it needs, in all releases of Kafka. */
final class Log {
  static final String TOPIC = "app-streamctl-control";
  private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);

  List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(); // null: there is no topic
  KafkaException failing; // what every request ends with, null: none does
  KafkaException refusing; // what a poll ends with, null: it does not
  Duration hanging = Duration.ZERO; // how long every poll takes
  boolean remembers; // a consumer that has read once does not ask whether the topic is still there, as Kafka's own
  int atOnce = Integer.MAX_VALUE; // records of one poll at most
  int partitions = 1;
  int opened;
  int closed;
  int delivered; // records that were handed out in all

  void add(String key, String value) {
    records.add(new ConsumerRecord<>(TOPIC, 0, records.size(), key.getBytes(StandardCharsets.UTF_8),
        value == null ? null : value.getBytes(StandardCharsets.UTF_8)));
  }

  @SuppressWarnings("unchecked")
  Consumer<byte[], byte[]> consumer() {
    opened++;
    long[] at = {0};
    boolean[] seen = {false};
    return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(Log.class.getClassLoader(), new Class<?>[] {Consumer.class}, (self, method, args) -> {
      if (failing != null && !method.getName().equals("close")) {
        throw failing;
      }
      switch (method.getName()) {
        case "partitionsFor":
          seen[0] |= remembers && records != null;
          return records == null && !seen[0] ? null : Collections.nCopies(partitions, new PartitionInfo(TOPIC, 0, null, null, null));
        case "endOffsets":
          if (records == null) {
            throw new TimeoutException("no end within the time");
          }
          return Collections.singletonMap(PARTITION, (long) records.size());
        case "seek":
          at[0] = (long) args[1];
          return null;
        case "seekToBeginning":
          at[0] = 0;
          return null;
        case "position":
          return at[0];
        case "poll":
          return poll(at);
        case "close":
          closed++;
          return null;
        default:
          return null; // assign
      }
    });
  }

  @SuppressWarnings("deprecation") // the other constructor is not in 3.8
  private ConsumerRecords<byte[], byte[]> poll(long[] at) {
    if (refusing != null) {
      throw refusing;
    }
    int to = (int) Math.min(records.size(), at[0] + (long) atOnce);
    List<ConsumerRecord<byte[], byte[]>> rest = new ArrayList<>(records.subList((int) at[0], to));
    LockSupport.parkNanos(hanging.toNanos());
    at[0] = to;
    delivered += rest.size();
    return new ConsumerRecords<>(Map.of(PARTITION, rest));
  }
}
