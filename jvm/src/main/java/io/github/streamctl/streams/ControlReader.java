package io.github.streamctl.streams;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Reads the control topic up to its end, each time from where the last read ended, with a consumer of its own that is in
 * no group. A topic that does not exist has no records, and reading does not create it. For one thread.
 */
final class ControlReader {
  /** After so long the topic is read whole again, far below the time for which it keeps tombstones. */
  private static final long WHOLE_AGAIN_NS = Duration.ofMinutes(10).toNanos();

  /** Says why the topic cannot be read, for people. */
  static final class Unreadable extends Exception {
    private static final long serialVersionUID = 1L;

    Unreadable(String text, Throwable cause) {
      super(text, cause);
    }
  }

  private final Function<Map<String, Object>, Consumer<byte[], byte[]>> consumers;
  private final TopicPartition partition;
  private volatile Map<String, Object> configs = Collections.emptyMap();
  private Map<String, Object> opened; // the settings of the consumer
  private Consumer<byte[], byte[]> consumer;
  private ControlView view = new ControlView();
  private ConsumerRecord<byte[], byte[]> last; // that was read
  private long wholeAt = System.nanoTime();

  /** The topic exists, as the last answer had it that said so. */
  volatile boolean exists;

  /** How many partitions it has; only the first one is read. */
  volatile int partitions;

  ControlReader(Function<Map<String, Object>, Consumer<byte[], byte[]>> consumers, String topic) {
    this.consumers = consumers;
    this.partition = new TopicPartition(topic, 0);
  }

  /** Sets what the next read connects with; a consumer with other settings is closed then. */
  void use(Map<String, Object> configs) {
    this.configs = configs;
  }

  /**
   * Reads up to the present end; null when the topic does not exist. Where the time was too short the next read goes on
   * from where this one came to, else a topic that takes longer than a round may wait would never be read. On other
   * trouble the next read starts anew.
   */
  ControlView read(Duration within) throws Unreadable {
    long until = System.nanoTime() + within.toNanos();
    boolean before = exists;
    try {
      open();
      List<PartitionInfo> found = consumer.partitionsFor(partition.topic(), left(until));
      partitions = found == null ? 0 : found.size();
      exists = false; // what is found may be what the consumer knows from before
      if (partitions == 0) {
        consumer.assign(Collections.emptySet());
        startOver(new ControlView());
        return null;
      }
      long end = end(until);
      exists = true;
      readTo(end, until);
      return view.copy();
    } catch (TimeoutException e) {
      throw new Unreadable("topic \"" + partition.topic() + "\" cannot be read: " + e.getMessage(), e);
    } catch (AuthorizationException e) {
      close();
      exists |= before; // whoever may not see a topic makes none either
      throw new Unreadable("not allowed to read topic \"" + partition.topic() + "\": needs READ and DESCRIBE on it", e);
    } catch (KafkaException e) {
      close();
      throw new Unreadable("topic \"" + partition.topic() + "\" cannot be read: " + Trouble.why(e), e);
    }
  }

  private void open() {
    Map<String, Object> wanted = configs;
    if (consumer != null && !ClientConfigs.same(wanted, opened)) {
      close();
    }
    if (consumer == null) {
      consumer = consumers.apply(wanted);
      opened = wanted;
    }
  }

  private long end(long until) {
    Set<TopicPartition> one = Collections.singleton(partition);
    consumer.assign(one);
    Duration left = left(until);
    try {
      return consumer.endOffsets(one, left).get(partition);
    } catch (TimeoutException e) {
      // So it is with a topic that was deleted, too: the consumer knows it from before. A new one asks.
      drop();
      throw e;
    }
  }

  private void readTo(long end, long until) {
    Set<TopicPartition> one = Collections.singleton(partition);
    if (end < view.position) {
      startOver(new ControlView()); // the topic was made anew
    } else if (System.nanoTime() - wholeAt >= WHOLE_AGAIN_NS) {
      startOver(view.again());
    }
    // With the last record that was read: where another one is in its place, the topic was made anew and has grown since.
    consumer.seek(partition, last != null && last.offset() == view.position - 1 ? last.offset() : view.position);
    if (view.position == 0) {
      consumer.seekToBeginning(one);
    }
    while (consumer.position(partition, left(until)) < end) {
      try {
        if (!take(consumer.poll(left(until)))) {
          startOver(new ControlView());
          consumer.seekToBeginning(one);
        }
      } catch (OffsetOutOfRangeException e) {
        startOver(view.again());
        consumer.seekToBeginning(one);
      }
      if (view.tooMuch()) {
        throw new KafkaException("it has marks and statuses of more than " + (ControlView.MAX_KEPT >> 20) + " MiB");
      }
      view.position = Math.max(view.position, consumer.position(partition, left(until)));
    }
    view.position = Math.max(view.position, end);
  }

  /** Takes records; false when one is not what it was when it was read before. */
  private boolean take(Iterable<ConsumerRecord<byte[], byte[]>> records) {
    for (ConsumerRecord<byte[], byte[]> r : records) {
      if (r.offset() >= view.position) {
        view.apply(r.key(), r.value(), r.offset());
        view.position = r.offset() + 1;
        last = r;
      } else if (last != null && r.offset() == last.offset() && !sameRecord(r, last)) {
        return false;
      }
    }
    return true;
  }

  private static boolean sameRecord(ConsumerRecord<byte[], byte[]> a, ConsumerRecord<byte[], byte[]> b) {
    return a.timestamp() == b.timestamp() && Arrays.equals(a.key(), b.key()) && Arrays.equals(a.value(), b.value());
  }

  private void startOver(ControlView empty) {
    view = empty;
    last = null;
    wholeAt = System.nanoTime();
  }

  private static Duration left(long until) {
    long ns = until - System.nanoTime();
    if (ns <= 0) {
      throw new TimeoutException("it took too long");
    }
    return Duration.ofNanos(ns);
  }

  /** Ends the connections; the next read starts anew. */
  void close() {
    drop();
    startOver(view.again());
  }

  private void drop() {
    if (consumer != null) {
      try {
        consumer.close(Duration.ZERO);
      } catch (KafkaException e) {
        // it is gone either way
      }
      consumer = null;
    }
  }
}
