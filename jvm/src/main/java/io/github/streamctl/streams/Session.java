package io.github.streamctl.streams;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one process of an app remembers from one round that it led to the next. Streams makes a new assignor for each
 * round, so this outlives them. Its threads are daemons and end, like its connections, soon after the last round.
 */
final class Session {
  private static final Logger LOG = LoggerFactory.getLogger(Session.class);
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final int MAX_SESSIONS = 100; // the one used least lately goes: an app that is started again and again has a new one each time
  private static final int MAX_SILENT = 1_000; // of one round; the rest is for the next ones
  private static final Map<String, Session> ALL = new LinkedHashMap<>(16, 0.75f, true);

  private final ControlReader reader;
  private final ScheduledThreadPoolExecutor readers;
  private final String topic;
  private final Trouble trouble;
  private final Trouble several = new Trouble(LOG, null);
  private final Map<String, Long> firstSeen = new HashMap<>(); // by mark id, this clock in ns
  private final Map<String, String> toldOf = new HashMap<>(); // by process: id of the mark that the log tells of
  private final Map<String, Mark> ended = new HashMap<>(); // by process: it left under this mark, which the topic still has
  private Future<ControlView> reading;
  private volatile long reads; // finished or begun, so that an idle close can tell whether it is still due

  /** What is known of the topic, as of the last time that it could be read. */
  private ControlView known = new ControlView();

  /** The round that this process led last, and up to where the topic had been read then; null: none. */
  private Round led;

  private long ledPosition;

  /** Why the topic could not be read in this round, null when it could. */
  String error;

  /** The topic was read at least once, whether it exists or not. */
  boolean wasRead;

  /** Standbys that are wanted and have no place. */
  final Trouble standbys = new Trouble(LOG, null);

  /** Writes records. */
  final Publisher publisher;

  Session(String topic, ControlReader reader, Publisher publisher) {
    this.topic = topic;
    this.reader = reader;
    this.publisher = publisher;
    trouble = new Trouble(LOG, "topic \"" + topic + "\" can be read again");
    readers = new ScheduledThreadPoolExecutor(1, r -> daemon(r, "streamctl-control-reader"));
    readers.setKeepAliveTime(IDLE.toSeconds(), TimeUnit.SECONDS);
    readers.allowCoreThreadTimeOut(true);
    readers.setRemoveOnCancelPolicy(true);
  }

  static Thread daemon(Runnable r, String name) {
    Thread t = new Thread(r, name);
    t.setDaemon(true);
    return t;
  }

  /** The session of a process of an app. Clients that it opens from now on have the settings of this round. */
  static Session of(String app, String process, PluginSettings set, Map<String, ?> configs) {
    String key = app + "\n" + process + "\n" + configs.get("bootstrap.servers") + "\n" + set.topic;
    Session s;
    synchronized (ALL) {
      s = ALL.computeIfAbsent(key, k -> new Session(set.topic, new ControlReader(KafkaConsumer::new, set.topic),
          new Publisher(KafkaProducer::new, set.topic, IDLE)));
      while (ALL.size() > MAX_SESSIONS) {
        ALL.remove(ALL.keySet().iterator().next());
      }
    }
    s.reader.use(ClientConfigs.consumer(configs));
    s.publisher.use(ClientConfigs.producer(configs, set.timeoutMs));
    return s;
  }

  /** Reads the topic up to its end. If that takes longer than it may, or fails, the marks that are known hold. */
  void refresh(long timeoutMs) {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    boolean late = reading != null && !reading.isDone(); // a reading of the round before that took too long
    if (!late) {
      read(timeoutMs);
    }
    take(until, timeoutMs);
    long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
    if (late && left > 0) { // what it read ends where the topic ended then
      read(left);
      take(until, timeoutMs);
    }
    trouble.is(error == null ? null : error + "; the " + known.marks.size() + " marks that are known hold until it can be read");
    int n = reader.partitions;
    several.is(n < 2 ? null : "topic \"" + topic + "\" has " + n + " partitions, and only the first one is read: marks in the others do nothing, and "
        + "this process writes no status. Delete it while no mark is needed; streamctl makes it anew with one");
  }

  private void read(long withinMs) {
    long mine = ++reads;
    reading = readers.submit(() -> reader.read(Duration.ofMillis(withinMs)));
    readers.schedule(() -> closeIfIdle(mine), IDLE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void take(long until, long timeoutMs) {
    error = null;
    try {
      ControlView view = reading.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      wasRead = true;
      known = view != null ? view : new ControlView();
    } catch (TimeoutException e) {
      error = "topic \"" + topic + "\" was not read within " + timeoutMs + " ms";
    } catch (ExecutionException e) {
      error = e.getCause() instanceof ControlReader.Unreadable ? e.getCause().getMessage()
          : "topic \"" + topic + "\" cannot be read: " + e.getCause();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      error = "interrupted while topic \"" + topic + "\" was read";
    }
  }

  private void closeIfIdle(long read) {
    if (reads == read) {
      reader.close();
    }
  }

  /** Puts the marks on the members. Time counts from when this process first saw a mark, by its own clock. */
  void mark(Group group, PluginSettings set, String self) {
    long now = System.nanoTime();
    toldOf.keySet().retainAll(known.marks.keySet());
    firstSeen.keySet().removeIf(id -> known.marks.values().stream().noneMatch(m -> m.id.equals(id)));
    for (Member m : group.members) {
      m.plugIn |= m.id.equals(self) || toldBy(m);
      Mark mark = known.marks.get(m.id);
      if (mark == null || mark.same(ended.get(m.id))) {
        continue;
      }
      m.mark = mark;
      Long timeout = mark.timeoutMs == null ? set.scaleDownMs : mark.timeoutMs;
      if (!mark.id.equals(toldOf.put(m.id, mark.id))) {
        LOG.info("process {} is marked as leaving: its tasks go to others{}", m.id, timeout == null ? "" : " within " + timeout + " ms");
      }
      long seen = firstSeen.computeIfAbsent(mark.id, id -> now);
      m.remainingMs = timeout == null ? null : Long.valueOf(Math.max(0, timeout - TimeUnit.NANOSECONDS.toMillis(now - seen)));
      m.expired = m.remainingMs != null && m.remainingMs == 0;
    }
  }

  /** Its status is by members that it still has. One that has none of them left was started anew, maybe without the jar. */
  private boolean toldBy(Member m) {
    return !Collections.disjoint(m.consumers, known.plugIns.getOrDefault(m.id, Collections.emptySet()));
  }

  /** Processes with a status that are not in this round: nothing of it holds when they come back. */
  List<String> silent(Group group) {
    List<String> out = new ArrayList<>();
    for (String id : known.plugIns.keySet()) {
      if (group.find(id) == null && out.size() < MAX_SILENT) {
        out.add(id);
      }
    }
    return out;
  }

  /** The round before, by whomever it was led; null when nothing is known of it. */
  Round before(String self) {
    boolean byAnother = known.round != null && !self.equals(known.leader) && known.roundOffset >= ledPosition;
    return led == null || byAnother ? known.round : led;
  }

  /** Keeps a round that this process led. */
  void led(Round round) {
    led = round;
    ledPosition = known.position;
  }

  /**
   * Processes that took part in a round under a mark and were gone in the next: their marks have ended. They stay here
   * until the topic has those marks no more, since a writing may fail, or be dropped for a newer one.
   */
  List<String> departed(Group group, Round before) {
    known.marks.forEach((id, mark) -> {
      if (before != null && before.members.contains(id) && group.find(id) == null) {
        ended.put(id, mark);
      }
    });
    ended.entrySet().removeIf(e -> !e.getValue().same(known.marks.get(e.getKey())));
    List<String> out = new ArrayList<>(ended.keySet());
    out.sort(null);
    return out;
  }

  /** The topic exists, as far as is known, and is as it has to be. */
  boolean writable() {
    return reader.exists && reader.partitions == 1;
  }

  /** Every record below this offset has been read; null: the topic was never read. */
  Long offset() {
    return wasRead ? Long.valueOf(known.position) : null;
  }
}
