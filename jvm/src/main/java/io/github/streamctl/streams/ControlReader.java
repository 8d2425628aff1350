package io.github.streamctl.streams;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
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

  private final Supplier<Consumer<byte[], byte[]>> consumers;
  private final TopicPartition partition;
  private Consumer<byte[], byte[]> consumer;
  private ControlView view = new ControlView();
  private long wholeAt;

  /** The topic exists, as the last answer had it that said so. */
  volatile boolean exists;

  ControlReader(Supplier<Consumer<byte[], byte[]>> consumers, String topic) {
    this.consumers = consumers;
    this.partition = new TopicPartition(topic, 0);
  }

  /**
   * Reads up to the present end; null when the topic does not exist. Where the time was too short the next read goes on
   * from where this one came to, else a topic that takes longer than a round may wait would never be read. On other
   * trouble the next read starts anew.
   */
  ControlView read(Duration within) throws Unreadable {
    long until = System.nanoTime() + within.toNanos();
    try {
      if (consumer == null) {
        consumer = consumers.get();
        view = new ControlView();
        wholeAt = System.nanoTime() - WHOLE_AGAIN_NS;
      }
      List<PartitionInfo> partitions = consumer.partitionsFor(partition.topic(), left(until));
      exists = partitions != null && !partitions.isEmpty();
      if (!exists) {
        close();
        return null;
      }
      readTo(until);
      return view.copy();
    } catch (TimeoutException e) {
      throw new Unreadable("topic \"" + partition.topic() + "\" cannot be read: " + e.getMessage(), e);
    } catch (AuthorizationException e) {
      close();
      throw new Unreadable("not allowed to read topic \"" + partition.topic() + "\": needs READ and DESCRIBE on it", e);
    } catch (KafkaException e) {
      close();
      throw new Unreadable("topic \"" + partition.topic() + "\" cannot be read: " + e.getMessage(), e);
    }
  }

  private void readTo(long until) {
    Set<TopicPartition> one = Collections.singleton(partition);
    consumer.assign(one);
    long end = consumer.endOffsets(one, left(until)).get(partition);
    // An end below what was read: the topic was made anew.
    if (end < view.position || System.nanoTime() - wholeAt >= WHOLE_AGAIN_NS) {
      startOver();
    }
    consumer.seek(partition, view.position);
    if (view.position == 0) {
      consumer.seekToBeginning(one);
    }
    while (consumer.position(partition, left(until)) < end) {
      try {
        for (ConsumerRecord<byte[], byte[]> r : consumer.poll(left(until))) {
          view.apply(r.key(), r.value(), r.offset());
          view.position = r.offset() + 1;
        }
      } catch (OffsetOutOfRangeException e) {
        startOver();
        consumer.seekToBeginning(one);
      }
      view.position = consumer.position(partition, left(until));
    }
    view.position = Math.max(view.position, end);
  }

  private void startOver() {
    view = new ControlView();
    wholeAt = System.nanoTime();
  }

  private static Duration left(long until) {
    long ns = until - System.nanoTime();
    if (ns <= 0) {
      throw new TimeoutException("it took too long");
    }
    return Duration.ofNanos(ns);
  }

  void close() {
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
