package io.github.streamctl.streams;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes records to a control topic that exists, on a thread of its own: nobody waits for it, and what fails is logged
 * and gone. While one writing is under way only the newest other one waits. The producer lives as long as the thread,
 * that is until nothing was written for a while.
 */
final class Publisher {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  /** A producer, and the settings that it was made with. */
  private static final class Open {
    final Producer<byte[], byte[]> producer;
    final Map<String, Object> configs;

    Open(Producer<byte[], byte[]> producer, Map<String, Object> configs) {
      this.producer = producer;
      this.configs = configs;
    }
  }

  private final Function<Map<String, Object>, Producer<byte[], byte[]>> producers;
  private final String topic;
  private final ThreadLocal<Open> open = new ThreadLocal<>(); // of the writer's thread
  private final ThreadPoolExecutor writer;
  private final Trouble trouble;
  private volatile Map<String, Object> configs = Collections.emptyMap();

  /** Why the last writing failed, null when it did not. */
  volatile String error;

  /** Idle: after so long without a writing the thread ends, and the connections with it. */
  Publisher(Function<Map<String, Object>, Producer<byte[], byte[]>> producers, String topic, Duration idle) {
    this.producers = producers;
    this.topic = topic;
    trouble = new Trouble(LOG, "topic \"" + topic + "\" can be written again");
    writer = new ThreadPoolExecutor(1, 1, idle.toMillis(), TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>(1),
        r -> Session.daemon(() -> whileOpen(r), "streamctl-control-writer"), new ThreadPoolExecutor.DiscardOldestPolicy());
    writer.allowCoreThreadTimeOut(true);
  }

  /** A record to write; no value is a tombstone. */
  static final class Entry {
    final String key;
    final byte[] value;

    Entry(String key, byte[] value) {
      this.key = key;
      this.value = value;
    }
  }

  /** Sets what the next writing connects with. */
  void use(Map<String, Object> configs) {
    this.configs = configs;
  }

  /** Has the records made and written later. */
  void publish(Callable<List<Entry>> records) {
    writer.execute(() -> write(records));
  }

  /** Ends the connections when there is no topic: a producer that loses one asks for the topics that it knows. */
  void rest() {
    if (writer.getPoolSize() > 0) {
      writer.execute(this::close);
    }
  }

  private void whileOpen(Runnable r) {
    try {
      r.run();
    } finally {
      close();
    }
  }

  private void write(Callable<List<Entry>> records) {
    try {
      List<Entry> entries = records.call();
      Producer<byte[], byte[]> producer = producer();
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (Entry e : entries) {
        Future<RecordMetadata> f = producer.send(new ProducerRecord<>(topic, 0, e.key.getBytes(StandardCharsets.UTF_8), e.value));
        sent.add(f);
        if (f.isDone()) {
          f.get(); // where no broker is found, each record would wait for one anew
        }
      }
      for (Future<RecordMetadata> f : sent) {
        f.get();
      }
      trouble.is(null);
      error = null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
    } catch (ExecutionException e) {
      failed(e.getCause());
    } catch (Exception | LinkageError e) { // whatever it is, the app goes on
      failed(e);
    }
  }

  private Producer<byte[], byte[]> producer() {
    Map<String, Object> wanted = configs;
    if (open.get() != null && !ClientConfigs.same(wanted, open.get().configs)) {
      close();
    }
    if (open.get() == null) {
      open.set(new Open(producers.apply(wanted), wanted));
    }
    return open.get().producer;
  }

  private void close() {
    Open mine = open.get();
    open.remove();
    if (mine != null) {
      try {
        mine.producer.close(Duration.ofSeconds(1)); // nothing is under way, but after a failure
      } catch (RuntimeException e) {
        LOG.debug("closing the producer of topic \"{}\"", topic, e);
      }
    }
  }

  private void failed(Throwable why) {
    close();
    String text = "topic \"" + topic + "\" cannot be written: " + Trouble.why(why);
    trouble.is(text + "; streamctl does not see this process's status");
    error = text;
  }
}
