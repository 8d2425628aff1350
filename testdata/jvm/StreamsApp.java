import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.processor.internals.DefaultKafkaClientSupplier;

/**
 * A small stateful Streams app to look at: sub-topology 0 counts by key, sub-topology 1 counts by value after a
 * repartition, so N input partitions make 2N stateful tasks. Compiles and runs with Kafka Streams 2.8 to 4.4.
 *
 * <p>Arguments: properties file, input topic, then key=value settings (application.id, state.dir, group.protocol=streams,
 * ...). Output goes to TOPIC-out, which must exist. Instances are started by lines on standard input, several in one
 * JVM if wanted:
 *
 * <pre>
 *   add CLIENT_ID [key=value ...]   starts an instance
 *   close CLIENT_ID                 closes it cleanly
 *   thread CLIENT_ID                starts one more thread in it
 * </pre>
 *
 * <p>The end of standard input ends the JVM at once. Settings of our own: app.process.id (the process UUID, written to
 * the state directory before the start), app.restore.sleep.ms (a pause after each batch that is restored),
 * app.restore.delay.ms (nothing is restored for so long after a copy was given),
 * app.topology=counts|describe (describe prints the topology and ends).
 *
 * <p>Prints "STATE CLIENT_ID NEW_STATE", "RESTORE CLIENT_ID CHANGELOG-PARTITION RECORDS" when an active task begins to
 * restore, and, at each change, "TASKS CLIENT_ID" with a JSON object: thread to active and standby tasks, as the
 * instance itself sees them. "DIED CLIENT_ID WHY", a line a cause, when an exception ends the instance.
 */
public class StreamsApp {
  static final Map<String, KafkaStreams> INSTANCES = new ConcurrentHashMap<>();

  public static void main(String[] args) throws Exception {
    Properties base = new Properties();
    try (FileInputStream f = new FileInputStream(args[0])) {
      base.load(f);
    }
    put(base, args, 2);
    base.putIfAbsent("default.key.serde", Serdes.StringSerde.class.getName());
    base.putIfAbsent("default.value.serde", Serdes.StringSerde.class.getName());
    if ("describe".equals(base.getProperty("app.topology"))) {
      System.out.print(topology(args[1]).build().describe());
      return;
    }

    Runtime.getRuntime().addShutdownHook(new Thread(StreamsApp::closeAll));
    Thread reporter = new Thread(StreamsApp::report);
    reporter.setDaemon(true);
    reporter.start();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.trim().split(" ");
      if (words[0].equals("add")) {
        start(base, args[1], words);
      } else if (words[0].equals("close") && INSTANCES.containsKey(words[1])) {
        INSTANCES.remove(words[1]).close(Duration.ofSeconds(20));
      } else if (words[0].equals("thread") && INSTANCES.containsKey(words[1])) {
        INSTANCES.get(words[1]).addStreamThread();
      }
    }
    Runtime.getRuntime().halt(143);
  }

  static StreamsBuilder topology(String topic) {
    StreamsBuilder b = new StreamsBuilder();
    KStream<String, String> in = b.stream(topic);
    in.groupByKey().count(Materialized.as("bykey"));
    in.selectKey((k, v) -> v).groupByKey().count(Materialized.as("byvalue"))
        .toStream().mapValues(v -> "" + v).to(topic + "-out");
    return b;
  }

  static void start(Properties base, String topic, String[] words) throws Exception {
    String client = words[1];
    Properties p = new Properties();
    p.putAll(base);
    put(p, words, 2);
    p.put("client.id", client);
    if (p.containsKey("app.process.id")) {
      Path dir = Paths.get(p.getProperty("state.dir"), p.getProperty("application.id"));
      Files.createDirectories(dir);
      String text = "{\"processId\":\"" + p.getProperty("app.process.id") + "\"}";
      Files.write(dir.resolve("kafka-streams-process-metadata"), text.getBytes(StandardCharsets.UTF_8));
    }
    long delay = Long.parseLong(p.getProperty("app.restore.delay.ms", "0"));
    KafkaStreams s = new KafkaStreams(topology(topic).build(), p, new LateRestore(delay));
    s.setStateListener((now, before) -> System.out.println("STATE " + client + " " + now));
    s.setUncaughtExceptionHandler((StreamsUncaughtExceptionHandler) e -> {
      for (Throwable why = e; why != null; why = why.getCause()) {
        System.out.println("DIED " + client + " " + why);
      }
      return StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT; // as without a handler
    });
    long sleep = Long.parseLong(p.getProperty("app.restore.sleep.ms", "0"));
    s.setGlobalStateRestoreListener(new RestoreReporter(client, sleep));
    slowDownStandbys(s, sleep);
    INSTANCES.put(client, s);
    s.start();
  }

  /** Gives restore consumers that get no records while a partition of theirs is young. They never block. */
  static final class LateRestore extends DefaultKafkaClientSupplier {
    final long delayMillis;

    LateRestore(long delayMillis) {
      this.delayMillis = delayMillis;
    }

    @Override
    public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
      if (delayMillis == 0) {
        return super.getRestoreConsumer(config);
      }
      return new KafkaConsumer<byte[], byte[]>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer()) {
        final Map<TopicPartition, Long> since = new HashMap<>();

        @Override
        public void assign(Collection<TopicPartition> partitions) {
          since.keySet().retainAll(partitions);
          for (TopicPartition p : partitions) {
            since.putIfAbsent(p, System.nanoTime());
          }
          super.assign(partitions);
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
          for (long t : since.values()) {
            if (System.nanoTime() - t < delayMillis * 1_000_000) {
              StreamsApp.pause(Math.min(timeout.toMillis(), 20));
              return ConsumerRecords.empty();
            }
          }
          return super.poll(timeout);
        }
      };
    }
  }

  static void put(Properties p, String[] settings, int from) {
    for (int i = from; i < settings.length; i++) {
      String[] kv = settings[i].split("=", 2);
      p.put(kv[0], kv[1]);
    }
  }

  /** Says what an active task restores, and pauses after each batch. */
  static final class RestoreReporter implements StateRestoreListener {
    final String client;
    final long millis;

    RestoreReporter(String client, long millis) {
      this.client = client;
      this.millis = millis;
    }

    @Override
    public void onRestoreStart(TopicPartition p, String store, long start, long end) {
      System.out.println("RESTORE " + client + " " + p + " " + (end - start));
    }

    @Override
    public void onBatchRestored(TopicPartition p, String store, long end, long n) {
      pause(millis);
    }

    @Override
    public void onRestoreEnd(TopicPartition p, String store, long total) {}
  }

  /** Pauses after each batch that a standby restores, where the release has a listener for that. */
  static void slowDownStandbys(KafkaStreams s, long millis) throws Exception {
    if (millis == 0) {
      return;
    }
    Class<?> listener;
    try {
      listener = Class.forName("org.apache.kafka.streams.processor.StandbyUpdateListener");
    } catch (ClassNotFoundException e) {
      return; // before 3.7
    }
    Object proxy = Proxy.newProxyInstance(listener.getClassLoader(), new Class<?>[] {listener}, (self, m, a) -> {
      if (m.getName().equals("onBatchLoaded")) {
        pause(millis);
      }
      return null;
    });
    s.getClass().getMethod("setStandbyUpdateListener", listener).invoke(s, proxy);
  }

  static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void closeAll() {
    List<Thread> closing = new ArrayList<>();
    for (KafkaStreams s : INSTANCES.values()) {
      Thread t = new Thread(() -> s.close(Duration.ofSeconds(20)));
      t.start();
      closing.add(t);
    }
    for (Thread t : closing) {
      try {
        t.join();
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  static void report() {
    Map<String, String> last = new LinkedHashMap<>();
    while (true) {
      for (Map.Entry<String, KafkaStreams> e : INSTANCES.entrySet()) {
        String now;
        try {
          now = tasks(e.getValue());
        } catch (Exception x) {
          continue; // not running at the moment
        }
        if (!now.equals(last.put(e.getKey(), now))) {
          System.out.println("TASKS " + e.getKey() + " " + now);
        }
      }
      pause(200);
    }
  }

  /** The method and its result type changed their names between 2.8 and 4.x, hence the reflection. */
  static String tasks(KafkaStreams s) throws Exception {
    Collection<?> threads;
    Class<?> type;
    try {
      threads = (Collection<?>) s.getClass().getMethod("metadataForLocalThreads").invoke(s);
      type = Class.forName("org.apache.kafka.streams.ThreadMetadata");
    } catch (NoSuchMethodException e) {
      threads = (Collection<?>) s.getClass().getMethod("localThreadsMetadata").invoke(s);
      type = Class.forName("org.apache.kafka.streams.processor.ThreadMetadata");
    }
    Map<String, String> byThread = new TreeMap<>();
    for (Object t : threads) {
      byThread.put((String) type.getMethod("threadName").invoke(t),
          "{\"active\":" + ids(type, t, "activeTasks") + ",\"standby\":" + ids(type, t, "standbyTasks") + "}");
    }
    StringBuilder out = new StringBuilder("{");
    for (Map.Entry<String, String> e : byThread.entrySet()) {
      out.append(out.length() > 1 ? "," : "").append('"').append(e.getKey()).append("\":").append(e.getValue());
    }
    return out.append('}').toString();
  }

  static String ids(Class<?> type, Object thread, String method) throws Exception {
    List<String> ids = new ArrayList<>();
    for (Object task : (Collection<?>) type.getMethod(method).invoke(thread)) {
      Class<?> taskType = type.getName().contains(".processor.")
          ? Class.forName("org.apache.kafka.streams.processor.TaskMetadata")
          : Class.forName("org.apache.kafka.streams.TaskMetadata");
      ids.add("\"" + taskType.getMethod("taskId").invoke(task) + "\"");
    }
    Collections.sort(ids);
    return ids.toString().replace(" ", "");
  }
}
