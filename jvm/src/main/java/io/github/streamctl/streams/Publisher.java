package io.github.streamctl.streams;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes records to a control topic that exists, on a thread of its own: nobody waits for it, and what fails is logged
 * and gone. While one writing is under way only the newest other one waits.
 */
final class Publisher {
  private static final Logger LOG = LoggerFactory.getLogger(Publisher.class);

  private final Map<String, Object> configs;
  private final String topic;
  private final ThreadPoolExecutor writer = new ThreadPoolExecutor(1, 1, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(1),
      r -> Session.daemon(r, "streamctl-control-writer"), new ThreadPoolExecutor.DiscardOldestPolicy());

  /** Why the last writing failed, null when it did not. */
  volatile String error;

  Publisher(Map<String, Object> configs, String topic) {
    this.configs = configs;
    this.topic = topic;
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

  /** Has the records made and written later. */
  void publish(Callable<List<Entry>> records) {
    writer.execute(() -> write(records));
  }

  // A producer for each writing: one that lives on would ask for the topic's metadata again, and with that a broker
  // may make a topic anew that somebody deleted.
  private void write(Callable<List<Entry>> records) {
    try (Producer<byte[], byte[]> producer = new KafkaProducer<>(configs)) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (Entry e : records.call()) {
        sent.add(producer.send(new ProducerRecord<>(topic, 0, e.key.getBytes(StandardCharsets.UTF_8), e.value)));
      }
      for (Future<RecordMetadata> f : sent) {
        f.get();
      }
      producer.close(Duration.ZERO);
      error = null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      failed(e.getCause());
    } catch (Exception e) { // whatever it is, the app goes on
      failed(e);
    }
  }

  private void failed(Throwable why) {
    String text = "topic \"" + topic + "\" cannot be written: " + why.getMessage();
    if (!text.equals(error)) {
      LOG.warn("{}; streamctl does not see this process's status", text);
    }
    error = text;
  }
}
